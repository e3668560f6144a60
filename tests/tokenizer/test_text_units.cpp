// The small parts: UTF-8, the byte alphabet, the escape for missing bytes, and where pre-tokenizers cut.
#include <QTest>

#include "engine/tokenizer/byte_alphabet.h"
#include "engine/tokenizer/byte_escape.h"
#include "engine/tokenizer/pre_tokenizer.h"
#include "engine/tokenizer/utf8.h"
#include "tests/tokenizer/real_models.h"

namespace tandem::test {
namespace {

// The pieces, joined by "¦".
QString pieces(std::string_view preTokenizer, std::string_view text) {
  QString shown;
  std::size_t begin = 0;
  for (const std::size_t end : findPreTokenizer(preTokenizer)->pieceEnds(text)) {
    if (begin > 0) shown += QString::fromUtf8("¦");
    shown += QString::fromUtf8(text.data() + begin, static_cast<int>(end - begin));
    begin = end;
  }
  return begin == text.size() ? shown : QString("the last piece does not end with the text");
}

}  // namespace

class TestTextUnits : public QObject {
  Q_OBJECT
 private slots:
  void readsUtf8_data();
  void readsUtf8();
  void spellsBytes();
  void escapesMissingBytes();
  void leavesCompleteVocabulariesAlone();
  void cutsText_data();
  void cutsText();
  void cutsInvalidBytesAsOthers();
  void knowsPreTokenizersByName();
};

void TestTextUnits::readsUtf8_data() {
  QTest::addColumn<QByteArray>("bytes");
  QTest::addColumn<int>("status");
  QTest::addColumn<uint>("code");
  QTest::addColumn<int>("length");
  const auto valid = static_cast<int>(Utf8Status::kValid);
  const auto invalid = static_cast<int>(Utf8Status::kInvalid);
  const auto incomplete = static_cast<int>(Utf8Status::kIncomplete);
  QTest::newRow("NUL") << QByteArray("\x00", 1) << valid << 0U << 1;
  QTest::newRow("7F") << QByteArray("\x7F") << valid << 0x7FU << 1;
  QTest::newRow("80") << QByteArray("\xC2\x80") << valid << 0x80U << 2;
  QTest::newRow("7FF") << QByteArray("\xDF\xBF") << valid << 0x7FFU << 2;
  QTest::newRow("800") << QByteArray("\xE0\xA0\x80") << valid << 0x800U << 3;
  QTest::newRow("D7FF") << QByteArray("\xED\x9F\xBF") << valid << 0xD7FFU << 3;
  QTest::newRow("E000") << QByteArray("\xEE\x80\x80") << valid << 0xE000U << 3;
  QTest::newRow("10000") << QByteArray("\xF0\x90\x80\x80") << valid << 0x10000U << 4;
  QTest::newRow("10FFFF") << QByteArray("\xF4\x8F\xBF\xBF") << valid << 0x10FFFFU << 4;
  QTest::newRow("continuation") << QByteArray("\x80") << invalid << 0xFFFDU << 1;
  QTest::newRow("overlong 2") << QByteArray("\xC1\xBF") << invalid << 0xFFFDU << 1;
  QTest::newRow("overlong 3") << QByteArray("\xE0\x9F\xBF") << invalid << 0xFFFDU << 1;
  QTest::newRow("overlong 4") << QByteArray("\xF0\x8F\xBF\xBF") << invalid << 0xFFFDU << 1;
  QTest::newRow("surrogate") << QByteArray("\xED\xA0\x80") << invalid << 0xFFFDU << 1;
  QTest::newRow("110000") << QByteArray("\xF4\x90\x80\x80") << invalid << 0xFFFDU << 1;
  QTest::newRow("F5") << QByteArray("\xF5\x80\x80\x80") << invalid << 0xFFFDU << 1;
  QTest::newRow("broken off") << QByteArray("\xF0\x9F\x98z") << invalid << 0xFFFDU << 3;
  QTest::newRow("lead at end") << QByteArray("\xE6") << incomplete << 0xFFFDU << 1;
  QTest::newRow("half at end") << QByteArray("\xF0\x9F\x98") << incomplete << 0xFFFDU << 3;
}

void TestTextUnits::readsUtf8() {
  QFETCH(const QByteArray, bytes);
  QFETCH(const int, status);
  QFETCH(const uint, code);
  QFETCH(const int, length);
  const std::string text = "x" + bytes.toStdString();
  const Utf8Char c = readUtf8(text, 1);
  QCOMPARE(static_cast<int>(c.status), status);
  QCOMPARE(static_cast<uint>(c.code), code);
  QCOMPARE(static_cast<int>(c.length), length);
}

void TestTextUnits::spellsBytes() {
  QCOMPARE(spellByte('A'), std::string("A"));
  QCOMPARE(spellByte(' '), std::string("\xC4\xA0"));   // U+0120
  QCOMPARE(spellByte(0x00), std::string("\xC4\x80"));  // U+0100
  QCOMPARE(spellByte(0xAD), std::string("\xC5\x83"));  // U+0143, the last of them
  QCOMPARE(spellByte(0xE9), std::string("\xC3\xA9"));  // itself
  std::string spelled;
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) {
    bytes.push_back(static_cast<char>(byte));
    spelled += spellByte(static_cast<std::uint8_t>(byte));
  }
  std::string back;
  appendSpelledBytes(spelled, back);
  QVERIFY(back == bytes);
  back.clear();
  appendSpelledBytes("\xE2\x96\x81", back);
  QCOMPARE(back, std::string("\xE2\x96\x81"));
}

void TestTextUnits::escapesMissingBytes() {
  std::bitset<256> missing;
  missing.set(0x04).set(0xFF).set('q');
  const ByteEscape escape(missing);
  QVERIFY(escape.isActive());
  QCOMPARE(escape.escape("a\x04"), std::string("a\xEF\xB7\x90\xEF\xB7\x94"));
  QCOMPARE(escape.escape("\xEF\xB7\x90"), std::string("\xEF\xB7\x9E\xEF\xB7\x9F\xB7\x90"));

  constexpr std::string_view kParts[] = {"\x04", "\xFF", "q",    "z",           "\xEF",
                                         "\xB7", "\x90", "\x9F", "\xEF\xB7\x95"};
  std::mt19937 random(3);
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (std::size_t n = random() % 12; n > 0; --n)
      text += kParts[random() % std::size(kParts)];
    const std::string escaped = escape.escape(text);
    for (const char c : escaped)
      QVERIFY(!missing[static_cast<std::uint8_t>(c)]);
    // In parts of any size.
    std::string pending;
    std::string back;
    for (std::size_t at = 0; at < escaped.size();) {
      const std::size_t length = 1 + random() % 4;
      pending.append(escaped.substr(at, length));
      at += length;
      escape.unescape(pending, back, false);
      QVERIFY(pending.size() <= 5);
    }
    escape.unescape(pending, back, true);
    QVERIFY2(back == text, QByteArray::fromStdString(text).toHex(' '));
    QVERIFY(pending.empty());
  }
}

void TestTextUnits::leavesCompleteVocabulariesAlone() {
  std::bitset<256> neededForEscape;
  neededForEscape.set(0x04).set(0xEF);
  for (const auto& missing : {std::bitset<256>(), neededForEscape}) {
    const ByteEscape escape(missing);
    QVERIFY(!escape.isActive());
    const std::string text = "\x04\xEF\xB7\x90\xEF\xB7\x94";
    QCOMPARE(escape.escape(text), text);
    std::string pending = text;
    std::string out;
    escape.unescape(pending, out, false);
    QCOMPARE(out, text);
    QVERIFY(pending.empty());
  }
}

void TestTextUnits::cutsText_data() {
  QTest::addColumn<QString>("name");
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("cut");
  int rows = 0;
  const auto row = [&](const char* name, const char* text, const char* cut) {
    QTest::addRow("%d, %s", ++rows, name) << name << QString::fromUtf8(text) << QString::fromUtf8(cut);
  };
  row("smollm", "", "");
  row("smollm", "It's 12  or so", "It¦'s¦ ¦1¦2¦ ¦ or¦ so");
  row("smollm", "a   b", "a¦  ¦ b");
  row("smollm", "a  1", "a¦  ¦1");
  row("smollm", "x\n\n  y", "x¦\n\n ¦ y");
  row("smollm", "half ½ IV Ⅳ", "half¦ ¦½¦ IV¦ ¦Ⅳ");
  row("gpt-2", "It's 12345 (or so)!  ", "It¦'s¦ 12345¦ (¦or¦ so¦)!¦  ");
  row("gpt-2", "IT'S\t\tx", "IT¦'¦S¦\t¦\t¦x");
  row("gpt-2", "cafe\xCC\x81 x", "cafe¦\xCC\x81¦ x");
  row("falcon", "a`b 12345", "a¦`¦b¦ ¦123¦45");
  row("default", "a`b 12345-6", "a¦`¦b¦ ¦123¦45¦-¦6");
  row("llama-bpe", "IT'S 12345 (or\n\n so)", "IT¦'S¦ ¦123¦45¦ (¦or¦\n\n¦ so¦)");
  row("llama-bpe", "x  \n \n  y", "x¦  \n \n¦ ¦ y");
  row("qwen2", "\tx 123!\n\n", "\tx¦ ¦1¦2¦3¦!\n\n");
  row("qwen2", "cafe\xCC\x81s", "cafe¦\xCC\x81s");
  row("qwen35", "cafe\xCC\x81s", "cafe\xCC\x81s");
}

void TestTextUnits::cutsText() {
  QFETCH(const QString, name);
  QFETCH(const QString, text);
  QFETCH(const QString, cut);
  QCOMPARE(pieces(name.toStdString(), text.toStdString()), cut);
}

void TestTextUnits::cutsInvalidBytesAsOthers() {
  const auto ends = findPreTokenizer("smollm")->pieceEnds(
      "ab\xE6\x97 \xFF"
      "cd");
  QCOMPARE(ends, (std::vector<std::uint32_t>{2, 4, 6, 8}));
}

void TestTextUnits::knowsPreTokenizersByName() {
  for (const char* name : {"smollm", "gpt-2", "default", "llama-bpe", "qwen2"}) {
    QVERIFY(findPreTokenizer(name) != nullptr);
    QVERIFY(findPreTokenizer(name)->name == name);
    QVERIFY(preTokenizerNames().find(name) != std::string::npos);
  }
  QVERIFY(findPreTokenizer("") == nullptr);
  QVERIFY(findPreTokenizer("smollm2") == nullptr);
}

}  // namespace tandem::test

QTEST_APPLESS_MAIN(tandem::test::TestTextUnits)
#include "test_text_units.moc"
