// Vocabularies that contradict themselves are refused, with the field that is wrong and a sentence.
#include <QTemporaryDir>
#include <QTest>
#include <limits>

#include "tests/tokenizer/small_vocabulary.h"

namespace tandem::test {
namespace {

using gguf::encode;
using gguf::EncodedValue;

constexpr const char* kSpm = "sentence piece";
constexpr const char* kBpe = "byte-level";

template <class T>
EncodedValue list(std::size_t count, T value) {
  const std::vector<T> elements(count, value);
  return gguf::encodeArray(std::span<const T>(elements));
}
EncodedValue texts(std::size_t count) {
  return gguf::encodeStrings(std::vector<std::string_view>(count, "x"));
}

// Adds rows for checkSetting: in the vocabulary `kind`, `key` is given another value.
void addSettingColumns() {
  QTest::addColumn<QString>("kind");
  QTest::addColumn<QString>("key");
  QTest::addColumn<int>("type");
  QTest::addColumn<QByteArray>("value");
  QTest::addColumn<QString>("sentence");
}
void addSetting(const char* name, const char* kind, const char* key, const EncodedValue& value,
                const char* sentence) {
  QTest::addRow("%s, %s", key, name) << kind << key << static_cast<int>(value.type)
                                     << QByteArray::fromStdString(value.bytes) << sentence;
}

}  // namespace

class TestVocabularyRefusals : public QObject {
  Q_OBJECT
 private slots:
  void refusesLists_data();
  void refusesLists() { checkSetting(); }
  void refusesIds_data();
  void refusesIds() { checkSetting(); }
  void refusesFlags_data();
  void refusesFlags() { checkSetting(); }
  void refusesMissingLists_data();
  void refusesMissingLists();
  void refusesMerges_data();
  void refusesMerges();
  void refusesOtherKinds();
  void refusesUnknownPreTokenizers();

 private:
  static SmallVocabulary make(const QString& kind) {
    return kind == kSpm ? smallSentencePiece() : smallByteLevel();
  }
  Result<std::shared_ptr<const Tokenizer>> load(const SmallVocabulary& v,
                                                const TokenizerOptions& options = {}) {
    return v.load(folder_.filePath("vocabulary.gguf").toStdString(), options);
  }
  void checkSetting();
  // Loading `v` fails with that code and field, and a message that has `sentence` in it.
  void checkRefused(const SmallVocabulary& v, ErrorCode code, std::string_view field,
                    std::string_view sentence);

  QTemporaryDir folder_;
};

void TestVocabularyRefusals::checkRefused(const SmallVocabulary& v, ErrorCode code, std::string_view field,
                                          std::string_view sentence) {
  const auto tokenizer = load(v);
  QVERIFY(!tokenizer);
  const Error& error = tokenizer.error();
  QCOMPARE(errorCodeName(error.code), errorCodeName(code));
  QCOMPARE(error.field, std::string(field));
  QVERIFY2(error.message.find(sentence) != std::string::npos, error.message.c_str());
}

void TestVocabularyRefusals::checkSetting() {
  QFETCH(const QString, kind);
  QFETCH(const QString, key);
  QFETCH(const int, type);
  QFETCH(const QByteArray, value);
  QFETCH(const QString, sentence);
  SmallVocabulary v = make(kind);
  QVERIFY(load(v));
  v.set(key.toStdString(), {static_cast<gguf::ValueType>(type), value.toStdString()});
  checkRefused(v, ErrorCode::kCorruptFile, key.toStdString(), sentence.toStdString());
}

void TestVocabularyRefusals::refusesLists_data() {
  addSettingColumns();
  constexpr auto kTokens = "tokenizer.ggml.tokens";
  addSetting("none", kSpm, kTokens, texts(0), "it has no tokens");
  addSetting("numbers", kSpm, kTokens, list<std::int32_t>(266, 1), "type STRING");
  addSetting("one text", kSpm, kTokens, encode(std::string_view("abc")), "array");

  constexpr auto kScores = "tokenizer.ggml.scores";
  addSetting("INT8", kSpm, kScores, list<std::int8_t>(266, 0), "type FLOAT32");
  addSetting("FLOAT64", kSpm, kScores, list<double>(266, 0), "type FLOAT32");
  addSetting("strings", kSpm, kScores, texts(266), "type FLOAT32");
  addSetting("too short", kSpm, kScores, list<float>(265, 0), "266 tokens, but this list has 265");
  addSetting("too long", kSpm, kScores, list<float>(267, 0), "266 tokens, but this list has 267");
  addSetting("too short, byte-level", kBpe, kScores, list<float>(1, 0), "259 tokens, but this list has 1 ");
  addSetting("NaN", kSpm, kScores, list(266, std::numeric_limits<float>::quiet_NaN()), "token 0 is not");
  addSetting("infinite", kSpm, kScores, list(266, std::numeric_limits<float>::infinity()), "token 0 is not");

  constexpr auto kTypes = "tokenizer.ggml.token_type";
  addSetting("strings", kSpm, kTypes, texts(266), "type INT32");
  addSetting("INT8", kSpm, kTypes, list<std::int8_t>(266, 1), "type INT32");
  addSetting("too short", kSpm, kTypes, list<std::int32_t>(3, 1), "266 tokens, but this list has 3 ");
  addSetting("too long", kBpe, kTypes, list<std::int32_t>(300, 1), "259 tokens, but this list has 300");
  addSetting("7", kSpm, kTypes, list<std::int32_t>(266, 7), "the type 7");
  addSetting("-1", kSpm, kTypes, list<std::int32_t>(266, -1), "the type -1");
  addSetting("a byte not spelled as one", kSpm, kTypes, list<std::int32_t>(266, 6), "token 0 (\"<unk>\")");

  addSetting("numbers", kBpe, "tokenizer.ggml.merges", list<std::int32_t>(2, 1), "type STRING");
}

void TestVocabularyRefusals::refusesIds_data() {
  addSettingColumns();
  for (const char* key : {"tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_id",
                          "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
    addSetting("2^31", kSpm, key, encode(std::uint32_t{1} << 31), "2147483648");
    addSetting("2^32-1", kSpm, key, encode(std::uint32_t{0xFFFFFFFF}), "4294967295");
    addSetting("2^64-1", kSpm, key, encode(~std::uint64_t{0}), "only 266 tokens");
    addSetting("one too many", kSpm, key, encode(std::uint32_t{266}), "only 266 tokens");
    addSetting("-1", kSpm, key, encode(std::int32_t{-1}), "0 or more");
    addSetting("a text", kSpm, key, encode(std::string_view("1")), "integer");
  }
}

void TestVocabularyRefusals::refusesFlags_data() {
  addSettingColumns();
  addSetting("no BOS named", kBpe, "tokenizer.ggml.add_bos_token", encode(true), "BOS");
  addSetting("a number", kSpm, "tokenizer.ggml.add_bos_token", encode(std::uint32_t{1}), "boolean");
  addSetting("a number", kSpm, "tokenizer.ggml.add_space_prefix", encode(std::uint32_t{1}), "boolean");
  addSetting("a number", kBpe, "tokenizer.ggml.pre", encode(std::uint32_t{1}), "string");
  addSetting("a number", kBpe, "tokenizer.ggml.model", encode(std::uint32_t{1}), "string");
}

void TestVocabularyRefusals::refusesMissingLists_data() {
  QTest::addColumn<QString>("kind");
  QTest::addColumn<QString>("key");
  QTest::newRow("tokens") << kBpe << "tokenizer.ggml.tokens";
  QTest::newRow("scores") << kSpm << "tokenizer.ggml.scores";
  QTest::newRow("merges") << kBpe << "tokenizer.ggml.merges";
}

void TestVocabularyRefusals::refusesMissingLists() {
  QFETCH(const QString, kind);
  QFETCH(const QString, key);
  SmallVocabulary v = make(kind);
  QVERIFY(load(v));
  v.dropped = {key.toStdString()};
  checkRefused(v, ErrorCode::kCorruptFile, key.toStdString(), "missing");
}

void TestVocabularyRefusals::refusesMerges_data() {
  QTest::addColumn<QString>("line");
  QTest::newRow("left piece unknown") << "xy z";
  QTest::newRow("right piece unknown") << "x yz";
  QTest::newRow("result unknown") << "x y";
  QTest::newRow("no space") << "xy";
  QTest::newRow("only a space") << " ";
  QTest::newRow("empty") << "";
}

void TestVocabularyRefusals::refusesMerges() {
  QFETCH(const QString, line);
  SmallVocabulary v = smallByteLevel();
  QVERIFY(load(v));
  v.merges.push_back(line.toStdString());
  checkRefused(v, ErrorCode::kCorruptFile, "tokenizer.ggml.merges",
               "merge 2 (\"" + line.toStdString() + "\")");
}

void TestVocabularyRefusals::refusesOtherKinds() {
  SmallVocabulary v = smallSentencePiece();
  v.model = "bert";
  checkRefused(v, ErrorCode::kUnsupported, "tokenizer.ggml.model", "\"bert\"");
  v.dropped = {"tokenizer.ggml.model"};
  checkRefused(v, ErrorCode::kUnsupported, "tokenizer.ggml.model", "no vocabulary");
}

void TestVocabularyRefusals::refusesUnknownPreTokenizers() {
  SmallVocabulary v = smallByteLevel();
  v.set("tokenizer.ggml.pre", encode(std::string_view("klingon")));
  checkRefused(v, ErrorCode::kUnsupported, "tokenizer.ggml.pre", "\"klingon\"");
  checkRefused(v, ErrorCode::kUnsupported, "tokenizer.ggml.pre", "--pre-tokenizer NAME");
  checkRefused(v, ErrorCode::kUnsupported, "tokenizer.ggml.pre", "smollm, ");
  QVERIFY(load(v, {.preTokenizer = "gpt-2"}));
  const auto wrong = load(v, {.preTokenizer = "vulcan"});
  QVERIFY(!wrong);
  QVERIFY(wrong.error().code == ErrorCode::kInvalidArgument);
  QVERIFY(wrong.error().message.find("\"vulcan\"") != std::string::npos);

  v.values.clear();
  v.dropped = {"tokenizer.ggml.pre"};
  checkRefused(v, ErrorCode::kUnsupported, "tokenizer.ggml.pre", "does not say");
  QVERIFY(load(v, {.preTokenizer = "gpt-2"}));
}

}  // namespace tandem::test

QTEST_APPLESS_MAIN(tandem::test::TestVocabularyRefusals)
#include "test_vocabulary_refusals.moc"
