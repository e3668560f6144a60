// Every string of bytes comes back: as a whole, and token by token through the streaming detokenizer.
#include <QTest>

#include "engine/tokenizer/detokenizer.h"
#include "engine/tokenizer/utf8.h"
#include "tests/tokenizer/real_models.h"

namespace tandem::test {
namespace {

constexpr int kStrings = 100000;

QByteArray hex(const std::string& text) {
  return QByteArray::fromStdString(text).toHex(' ');
}

bool isUtf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Char c = readUtf8(text, i);
    if (c.status != Utf8Status::kValid) return false;
    i += c.length;
  }
  return true;
}

}  // namespace

class TestRoundTrip : public QObject {
  Q_OBJECT
 private slots:
  void givesBack100000Strings_data() { addModels(); }
  void givesBack100000Strings();
  void streamsWhatItDecodes_data() { addModels(); }
  void streamsWhatItDecodes();

 private:
  static void addModels() {
    QTest::addColumn<QString>("model");
    QTest::newRow("smollm2") << kSmolLm2;
    QTest::newRow("gemma3") << kGemma3;
  }
};

void TestRoundTrip::givesBack100000Strings() {
  QFETCH(const QString, model);
  const auto tokenizer = realTokenizer(model.toStdString());
  QVERIFY2(tokenizer, why(tokenizer).c_str());
  RandomText random(20241129);
  std::size_t bytes = 0;
  for (int i = 0; i < kStrings; ++i) {
    const std::string text = random.next();
    bytes += text.size();
    const auto ids = (*tokenizer)->encode(text);
    QVERIFY2(ids, why(ids).c_str());
    QVERIFY2((*tokenizer)->decode(*ids) == text, hex(text));
    for (const TokenId id : *ids)
      QVERIFY2(!(*tokenizer)->isControl(id), hex(text));
  }
  QVERIFY(bytes > 1000000);
}

void TestRoundTrip::streamsWhatItDecodes() {
  QFETCH(const QString, model);
  const auto tokenizer = realTokenizer(model.toStdString());
  QVERIFY2(tokenizer, why(tokenizer).c_str());
  RandomText random(7);
  for (int i = 0; i < kStrings / 10; ++i) {
    const std::string text = random.next();
    const auto ids = (*tokenizer)->encode(text);
    QVERIFY(ids);
    StreamingDetokenizer stream(*tokenizer);
    std::string shown;
    for (const TokenId id : *ids) {
      const std::string piece = stream.push(id);
      QVERIFY2(isUtf8(piece), hex(text));
      shown += piece;
    }
    shown += stream.finish();
    QVERIFY2(stream.bytes() == text, hex(text));
    QVERIFY2(isUtf8(shown), hex(text));
    if (isUtf8(text)) QVERIFY2(shown == text, hex(text));
  }
}

}  // namespace tandem::test

QTEST_APPLESS_MAIN(tandem::test::TestRoundTrip)
#include "test_round_trip.moc"
