// Streaming: whole characters only, whatever tokens they are spread over.
#include <QTest>

#include "engine/tokenizer/detokenizer.h"
#include "tests/tokenizer/real_models.h"

namespace tandem::test {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";

// The id of the token that stands for one byte.
TokenId byteToken(const Tokenizer& tokenizer, unsigned char byte) {
  for (std::size_t i = 0; i < tokenizer.vocabSize(); ++i) {
    const auto id = static_cast<TokenId>(i);
    if (tokenizer.isControl(id) ||
        tokenizer.decode(id) != std::string_view(reinterpret_cast<char*>(&byte), 1))
      continue;
    if (tokenizer.vocabulary().kind() == TokenizerKind::kByteLevelBpe || byte < 0x80 ||
        tokenizer.vocabulary().type(id) == TokenType::kByte) {
      return id;
    }
  }
  return kNoToken;
}

std::vector<TokenId> byteTokens(const Tokenizer& tokenizer, std::string_view bytes) {
  std::vector<TokenId> ids;
  for (const char byte : bytes)
    ids.push_back(byteToken(tokenizer, static_cast<unsigned char>(byte)));
  return ids;
}

}  // namespace

class TestDetokenizer : public QObject {
  Q_OBJECT
 private slots:
  void holdsBackHalfCharacters_data();
  void holdsBackHalfCharacters();
  void showsATailOnce_data();
  void showsATailOnce();
  void replacesInvalidBytes_data();
  void replacesInvalidBytes();
  void readsEscapedBytes();
  void hidesControlTokens();
  void ignoresForeignIds();
};

void TestDetokenizer::holdsBackHalfCharacters_data() {
  QTest::addColumn<QString>("model");
  QTest::addColumn<QString>("text");
  QTest::addColumn<int>("characters");
  for (const char* model : {kSmolLm2, kGemma3}) {
    QTest::addRow("%s, emoji", model) << model << QString::fromUtf8("\xF0\x9F\x98\x80") << 1;
    QTest::addRow("%s, kanji", model) << model << QString::fromUtf8("\xE6\xAD\xA9") << 1;
    QTest::addRow("%s, family", model)
        << model
        << QString::fromUtf8("\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7") << 5;
    QTest::addRow("%s, mixed", model) << model << QString::fromUtf8("a\xC3\xA9\n\xE6\xAD\xA9z") << 5;
  }
}

void TestDetokenizer::holdsBackHalfCharacters() {
  QFETCH(const QString, model);
  QFETCH(const QString, text);
  QFETCH(const int, characters);
  const auto tokenizer = realTokenizer(model.toStdString());
  QVERIFY2(tokenizer, why(tokenizer).c_str());
  const std::string bytes = text.toStdString();
  const std::vector<TokenId> ids = byteTokens(**tokenizer, bytes);
  QCOMPARE(ids.size(), bytes.size());

  StreamingDetokenizer stream(*tokenizer);
  std::string shown;
  int pieces = 0;
  for (const TokenId id : ids) {
    QVERIFY(id != kNoToken);
    const std::string piece = stream.push(id);
    pieces += !piece.empty();
    shown += piece;
    QVERIFY(bytes.starts_with(shown));
  }
  QCOMPARE(pieces, characters);
  QVERIFY(shown == bytes);
  QVERIFY(stream.finish().empty());
  QVERIFY(stream.bytes() == bytes);
}

void TestDetokenizer::showsATailOnce_data() {
  QTest::addColumn<QString>("model");
  QTest::addColumn<QByteArray>("bytes");
  for (const char* model : {kSmolLm2, kGemma3}) {
    for (const char* bytes : {"\xE6\xAD", "\xE6", "\xF0\x9F\x98", "\xF0\x9F", "\xF0", "\xC3"}) {
      QTest::addRow("%s, %s", model, QByteArray(bytes).toHex().constData()) << model << QByteArray(bytes);
    }
  }
}

void TestDetokenizer::showsATailOnce() {
  QFETCH(const QString, model);
  QFETCH(const QByteArray, bytes);
  const auto tokenizer = realTokenizer(model.toStdString());
  QVERIFY2(tokenizer, why(tokenizer).c_str());
  StreamingDetokenizer stream(*tokenizer);
  for (const TokenId id : byteTokens(**tokenizer, bytes.toStdString()))
    QVERIFY(stream.push(id).empty());
  QCOMPARE(stream.finish(), std::string(kReplacement));
  QVERIFY(stream.finish().empty());
  QVERIFY(stream.bytes() == bytes.toStdString());
}

void TestDetokenizer::replacesInvalidBytes_data() {
  QTest::addColumn<QByteArray>("bytes");
  QTest::addColumn<QString>("shown");
  // One U+FFFD for each maximal subpart; the sequences are those of the Unicode Standard's tables 3-8 to
  // 3-11.
  QTest::newRow("overlong") << QByteArray("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41")
                            << QString(8, QChar(0xFFFD)) + "A";
  QTest::newRow("surrogates") << QByteArray("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41")
                              << QString(8, QChar(0xFFFD)) + "A";
  QTest::newRow("others") << QByteArray("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42")
                          << QString(5, QChar(0xFFFD)) + "A" + QString(2, QChar(0xFFFD)) + "B";
  QTest::newRow("cut") << QByteArray("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41")
                       << QString(4, QChar(0xFFFD)) + "A";
}

void TestDetokenizer::replacesInvalidBytes() {
  QFETCH(const QByteArray, bytes);
  QFETCH(const QString, shown);
  const auto tokenizer = realTokenizer(kGemma3);
  QVERIFY2(tokenizer, why(tokenizer).c_str());
  StreamingDetokenizer stream(*tokenizer);
  std::string text;
  for (const TokenId id : byteTokens(**tokenizer, bytes.toStdString()))
    text += stream.push(id);
  text += stream.finish();
  QCOMPARE(QString::fromStdString(text), shown);
  QVERIFY(stream.bytes() == bytes.toStdString());
}

void TestDetokenizer::readsEscapedBytes() {
  const auto tokenizer = realTokenizer(kSmolLm2);
  QVERIFY2(tokenizer, why(tokenizer).c_str());
  // SmolLM2 has no token for 04; its escape arrives as six bytes, and nothing of it is shown before it is
  // whole.
  const std::vector<TokenId> ids = byteTokens(**tokenizer, "\xEF\xB7\x90\xEF\xB7\x94");
  StreamingDetokenizer stream(*tokenizer);
  for (std::size_t i = 0; i + 1 < ids.size(); ++i)
    QVERIFY(stream.push(ids[i]).empty());
  QCOMPARE(stream.push(ids.back()), std::string("\x04"));
  // One that stays half is what it looks like.
  for (std::size_t i = 0; i < 4; ++i)
    QVERIFY(stream.push(ids[i]).empty());
  QCOMPARE(stream.finish(), std::string("\xEF\xB7\x90") + kReplacement);
  QCOMPARE(stream.bytes(), std::string("\x04\xEF\xB7\x90\xEF"));
}

void TestDetokenizer::hidesControlTokens() {
  const auto tokenizer = realTokenizer(kSmolLm2);
  QVERIFY2(tokenizer, why(tokenizer).c_str());
  const std::vector<TokenId> ids = {19556, 2, 905};
  StreamingDetokenizer hidden(*tokenizer);
  StreamingDetokenizer shown(*tokenizer, ControlText::kShown);
  std::string hiddenText;
  std::string shownText;
  for (const TokenId id : ids) {
    hiddenText += hidden.push(id);
    shownText += shown.push(id);
  }
  QCOMPARE(hiddenText, std::string("Hello world"));
  QCOMPARE(shownText, std::string("Hello<|im_end|> world"));
  QCOMPARE((*tokenizer)->decode(ids), std::string("Hello world"));
  QCOMPARE((*tokenizer)->decode(ids, ControlText::kShown), std::string("Hello<|im_end|> world"));
}

void TestDetokenizer::ignoresForeignIds() {
  const auto tokenizer = realTokenizer(kSmolLm2);
  QVERIFY2(tokenizer, why(tokenizer).c_str());
  StreamingDetokenizer stream(*tokenizer);
  for (const TokenId id :
       {-1, 49152, std::numeric_limits<TokenId>::max(), std::numeric_limits<TokenId>::min()}) {
    QVERIFY(stream.push(id).empty());
    QVERIFY(!(*tokenizer)->isControl(id));
    QVERIFY(!(*tokenizer)->isEndToken(id));
    const Status status = (*tokenizer)->check(std::vector<TokenId>{0, 1, id});
    QVERIFY(!status);
    QVERIFY(status.error().code == ErrorCode::kInvalidArgument);
    QVERIFY(status.error().message.find("at position 2") != std::string::npos);
  }
  QVERIFY((*tokenizer)->check(std::vector<TokenId>{0, 49151}));
}

}  // namespace tandem::test

QTEST_APPLESS_MAIN(tandem::test::TestDetokenizer)
#include "test_detokenizer.moc"
