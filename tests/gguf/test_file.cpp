// What the reader must open, and what it then says: values of every type, tensors, lookups, real models.
#include <QTest>
#include <limits>

#include "engine/gguf/file.h"
#include "engine/gguf/name_index.h"
#include "engine/gguf/text.h"
#include "tests/gguf/cpu_timer.h"
#include "tests/gguf/header_bytes.h"
#include "tests/gguf/memory_file.h"

namespace tandem::test {
namespace {

using gguf::ArrayView;
using gguf::encode;
using gguf::File;
using gguf::TensorType;
using gguf::ValueType;

constexpr std::uint32_t kF32 = 0, kI8 = 24, kArray = 9, kUint16 = 2;

// The opened file, or nullptr after a message.
std::shared_ptr<const File> opened(const HeaderBytes& bytes) {
  const MemoryFile memory(bytes.bytes());
  auto file = File::open(memory.path());
  if (!file) qWarning("%s", file.error().describe().c_str());
  return file ? file.value() : nullptr;
}

std::string realModel(const char* name) {
  return qgetenv("TANDEM_MODELS").toStdString() + "/" + name;
}

// Whether the array under `key` has the elements `expected`, of the type T stands for.
template <class T>
bool hasElements(const File& file, std::string_view key, const std::vector<T>& expected) {
  const auto array = file.getArray(key);
  if (!array || *array == nullptr || (*array)->elementType != gguf::valueTypeOf<T>()) return false;
  if ((*array)->count != expected.size() || (*array)->bytes.size() != expected.size() * sizeof(T))
    return false;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if ((*array)->load<T>(i) != expected[i]) return false;
  }
  return true;
}

template <class T>
gguf::EncodedValue encodeVector(const std::vector<T>& values) {
  return gguf::encodeArray(std::span<const T>(values));
}

}  // namespace

class TestFile : public QObject {
  Q_OBJECT
 private slots:
  void readsScalars();
  void refusesOtherKinds();
  void readsNumericArrays();
  void readsStringAndNestedArrays();
  void placesTensors();
  void opensVersion2AndFilesWithoutTensors();
  void alignsByTheKey();
  void finds100000Names();
  void sizesBlocks();
  void hashesAsPublished();
  void showsNames();
  void readsSmolLm2();
  void readsGemmaQuickly();
};

void TestFile::readsScalars() {
  HeaderBytes bytes(0, 12);
  bytes.entry("u8", encode(std::uint8_t{255})).entry("i8", encode(std::int8_t{-128}));
  bytes.entry("u16", encode(std::uint16_t{65535})).entry("i16", encode(std::int16_t{-32768}));
  bytes.entry("u32", encode(std::uint32_t{4294967295})).entry("i32", encode(std::int32_t{7}));
  bytes.entry("u64", encode(std::numeric_limits<std::uint64_t>::max()));
  bytes.entry("i64", encode(std::numeric_limits<std::int64_t>::max()));
  bytes.entry("f32", encode(0.5f)).entry("f64", encode(1e300)).entry("bool", encode(true));
  bytes.entry("string", encode(std::string_view("a\0\xFF", 3)));
  const auto file = opened(bytes);
  QVERIFY(file);

  const auto isUint = [&](std::string_view key, std::uint64_t expected) {
    const auto value = file->getUint(key);
    return value.ok() && *value == expected;
  };
  QVERIFY(isUint("u8", 255));
  QVERIFY(isUint("u16", 65535));
  QVERIFY(isUint("u32", 4294967295));
  QVERIFY(isUint("i32", 7));
  QVERIFY(isUint("u64", std::numeric_limits<std::uint64_t>::max()));
  QVERIFY(isUint("i64", std::numeric_limits<std::int64_t>::max()));
  QCOMPARE(std::get<std::int64_t>(file->find("i8")->value), std::int64_t{-128});
  QCOMPARE(std::get<std::int64_t>(file->find("i16")->value), std::int64_t{-32768});
  QCOMPARE(**file->getFloat("f32"), 0.5);
  QCOMPARE(**file->getFloat("f64"), 1e300);
  QCOMPARE(**file->getBool("bool"), true);
  QVERIFY(**file->getString("string") == std::string_view("a\0\xFF", 3));

  QVERIFY(!file->getUint("absent")->has_value());
  QVERIFY(!file->getFloat("absent")->has_value());
  QVERIFY(!file->getBool("absent")->has_value());
  QVERIFY(!file->getString("absent")->has_value());
  QVERIFY(*file->getArray("absent") == nullptr);
  QVERIFY(file->find("absent") == nullptr);
  QCOMPARE(file->find("u8")->offset, std::uint64_t{24 + 8 + 2 + 4});
}

void TestFile::refusesOtherKinds() {
  HeaderBytes bytes(0, 3);
  bytes.entry("negative", encode(std::int32_t{-1})).entry("text", encode(std::string_view("x")));
  bytes.entry("number", encode(std::uint32_t{1}));
  const auto file = opened(bytes);
  QVERIFY(file);
  const auto refuses = [&](const auto& result, const char* key, const char* wanted) {
    return !result.ok() && result.error().code == ErrorCode::kCorruptFile && result.error().field == key &&
           result.error().offset == file->find(key)->offset &&
           result.error().message.find(wanted) != std::string::npos;
  };
  QVERIFY(refuses(file->getUint("negative"), "negative", "must be an integer of 0 or more"));
  QVERIFY(refuses(file->getUint("text"), "text", "must be an integer"));
  QVERIFY(refuses(file->getFloat("number"), "number", "must be a floating-point number"));
  QVERIFY(refuses(file->getBool("number"), "number", "must be a boolean"));
  QVERIFY(refuses(file->getString("number"), "number", "must be a string"));
  QVERIFY(refuses(file->getArray("text"), "text", "must be an array"));
}

void TestFile::readsNumericArrays() {
  const std::vector<std::uint8_t> u8 = {0, 255};
  const std::vector<std::int8_t> i8 = {-128, 127, 0};
  const std::vector<std::uint16_t> u16 = {65535};
  const std::vector<std::int16_t> i16 = {-32768, 32767};
  const std::vector<std::uint32_t> u32 = {4294967295, 1};
  const std::vector<std::int32_t> i32 = {-2147483647, 5};
  const std::vector<std::uint64_t> u64 = {std::numeric_limits<std::uint64_t>::max()};
  const std::vector<std::int64_t> i64 = {std::numeric_limits<std::int64_t>::min(), 3};
  const std::vector<float> f32 = {-0.5f, 3.25f};
  const std::vector<double> f64 = {1e-300, -2.5};
  HeaderBytes bytes(0, 12);
  bytes.entry("u8", encodeVector(u8)).entry("i8", encodeVector(i8)).entry("u16", encodeVector(u16));
  bytes.entry("i16", encodeVector(i16)).entry("u32", encodeVector(u32)).entry("i32", encodeVector(i32));
  bytes.entry("u64", encodeVector(u64)).entry("i64", encodeVector(i64)).entry("f32", encodeVector(f32));
  bytes.entry("f64", encodeVector(f64)).entry("bool", gguf::encodeArray(ValueType::kBool, 2, {"\1\0", 2}));
  bytes.entry("none", encodeVector(std::vector<float>{}));
  const auto file = opened(bytes);
  QVERIFY(file);
  QVERIFY(hasElements(*file, "u8", u8));
  QVERIFY(hasElements(*file, "i8", i8));
  QVERIFY(hasElements(*file, "u16", u16));
  QVERIFY(hasElements(*file, "i16", i16));
  QVERIFY(hasElements(*file, "u32", u32));
  QVERIFY(hasElements(*file, "i32", i32));
  QVERIFY(hasElements(*file, "u64", u64));
  QVERIFY(hasElements(*file, "i64", i64));
  QVERIFY(hasElements(*file, "f32", f32));
  QVERIFY(hasElements(*file, "f64", f64));
  QVERIFY(hasElements(*file, "none", std::vector<float>{}));
  const auto flags = file->getArray("bool");
  QVERIFY(flags.ok() && *flags != nullptr);
  QCOMPARE((*flags)->count, std::uint64_t{2});
  QCOMPARE((*flags)->load<std::uint8_t>(0), std::uint8_t{1});
  QCOMPARE((*flags)->load<std::uint8_t>(1), std::uint8_t{0});
}

void TestFile::readsStringAndNestedArrays() {
  const std::vector<std::string_view> words = {"", "one", std::string_view("t\0o", 3)};
  HeaderBytes bytes(0, 3);
  bytes.entry("words", gguf::encodeStrings(words));
  bytes.key("nested", kArray).u32(kArray).u64(2);
  bytes.u32(kUint16).u64(2).u8(1).u8(0).u8(2).u8(0).u32(8).u64(1).string("in");
  bytes.entry("after", encode(std::uint32_t{42}));
  const auto file = opened(bytes);
  QVERIFY(file);
  const auto strings = file->getArray("words");
  QVERIFY(strings.ok() && *strings != nullptr);
  QVERIFY((*strings)->strings == words);
  QCOMPARE((*strings)->count, std::uint64_t{3});
  QVERIFY((*strings)->bytes.empty());
  const auto nested = file->getArray("nested");
  QVERIFY(nested.ok() && *nested != nullptr);
  QVERIFY((*nested)->elementType == ValueType::kArray);
  QCOMPARE((*nested)->count, std::uint64_t{2});
  QCOMPARE((*nested)->bytes.size(), std::size_t{12 + 4 + 12 + 10});
  QCOMPARE(**file->getUint("after"), std::uint64_t{42});
}

void TestFile::placesTensors() {
  // In the file's order: "late" lies behind "early", with a gap between them; "blocks" follows directly.
  HeaderBytes bytes(3, 0);
  bytes.tensor("late", {4, 2}, kF32, 64)
      .tensor("early", {3, 1, 1, 1}, kI8, 0)
      .tensor("blocks", {64, 2}, 2, 96);
  bytes.padTo(32);
  const std::uint64_t dataStart = bytes.size();
  bytes.raw("abc").zeros(61).raw(std::string(32, 'L')).raw(std::string(72, 'B'));
  const auto file = opened(bytes);
  QVERIFY(file);
  QCOMPARE(file->tensors().size(), std::size_t{3});
  const gguf::TensorInfo& late = file->tensors()[0];
  QCOMPARE(late.offset, dataStart + 64);
  QCOMPARE(late.bytes, std::uint64_t{32});
  QVERIFY((late.dims == std::vector<std::uint64_t>{4, 2}));
  QVERIFY(late.type == TensorType::kF32);
  const gguf::TensorInfo* early = file->findTensor("early");
  QVERIFY(early == &file->tensors()[1]);
  QCOMPARE(early->elements, std::uint64_t{3});
  QCOMPARE(early->dims.size(), std::size_t{4});
  QCOMPARE(static_cast<char>(file->data(*early)[2]), 'c');
  QCOMPARE(file->findTensor("blocks")->bytes, std::uint64_t{4 * 18});
  QCOMPARE(static_cast<char>(file->data(*file->findTensor("blocks")).back()), 'B');
  QVERIFY(file->findTensor("absent") == nullptr);
  file->releasePages(file->data(late));
  QCOMPARE(static_cast<char>(file->data(late)[31]), 'L');
}

void TestFile::opensVersion2AndFilesWithoutTensors() {
  const auto second = opened(HeaderBytes(1, 0, 2).tensor("t", {8}, kF32, 0).padTo(32).zeros(32));
  QVERIFY(second);
  QCOMPARE(second->version(), std::uint32_t{2});
  const auto vocabulary =
      opened(HeaderBytes(0, 1).entry("general.architecture", encode(std::string_view("llama"))));
  QVERIFY(vocabulary);
  QCOMPARE(vocabulary->version(), std::uint32_t{3});
  QCOMPARE(vocabulary->alignment(), std::uint32_t{32});
  QVERIFY(vocabulary->tensors().empty());
  QVERIFY(opened(HeaderBytes(0, 0)));
}

void TestFile::alignsByTheKey() {
  HeaderBytes bytes(2, 1);
  bytes.entry("general.alignment", encode(std::uint32_t{4096}));
  bytes.tensor("a", {8}, kF32, 0).tensor("b", {8}, kF32, 4096).padTo(4096).zeros(4096 + 32);
  const auto file = opened(bytes);
  QVERIFY(file);
  QCOMPARE(file->alignment(), std::uint32_t{4096});
  QCOMPARE(file->findTensor("b")->offset, std::uint64_t{8192});
}

void TestFile::finds100000Names() {
  constexpr std::uint64_t kCount = 100'000;
  HeaderBytes bytes(kCount, 0);
  for (std::uint64_t i = 0; i < kCount; ++i)
    bytes.tensor("blk." + std::to_string(i), {8}, kF32, 32 * i);
  const MemoryFile memory(bytes.bytes(), bytes.size() + 32 * (kCount + 1));
  const CpuTimer openTimer;
  const auto file = File::open(memory.path());
  const double openMs = openTimer.elapsedMs();
  QVERIFY(file.ok());
  const CpuTimer findTimer;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const gguf::TensorInfo* tensor = (*file)->findTensor("blk." + std::to_string(i));
    QVERIFY(tensor == &(*file)->tensors()[i]);
  }
  const double findMs = findTimer.elapsedMs();
  qInfo("100,000 tensors: opened in %.1f ms, each found once in %.1f ms", openMs, findMs);
  QVERIFY(openMs < 1000);
  QVERIFY(findMs < 1000);
}

// The sizes follow from what a block holds: scales, then so many bits for each element.
void TestFile::sizesBlocks() {
  const auto is = [](TensorType type, const char* name, std::uint32_t elements, std::uint32_t bytes) {
    const gguf::BlockInfo block = gguf::blockInfo(type);
    return QByteArray(block.name) == name && block.elements == elements && block.bytes == bytes;
  };
  QVERIFY(is(TensorType::kF32, "F32", 1, 4) && is(TensorType::kF16, "F16", 1, 2));
  QVERIFY(is(TensorType::kBF16, "BF16", 1, 2) && is(TensorType::kF64, "F64", 1, 8));
  QVERIFY(is(TensorType::kI8, "I8", 1, 1) && is(TensorType::kI16, "I16", 1, 2));
  QVERIFY(is(TensorType::kI32, "I32", 1, 4) && is(TensorType::kI64, "I64", 1, 8));
  QVERIFY(is(TensorType::kQ4_0, "Q4_0", 32, 2 + 32 * 4 / 8));
  QVERIFY(is(TensorType::kQ4_1, "Q4_1", 32, 2 + 2 + 32 * 4 / 8));
  QVERIFY(is(TensorType::kQ5_0, "Q5_0", 32, 2 + 32 * 5 / 8));
  QVERIFY(is(TensorType::kQ5_1, "Q5_1", 32, 2 + 2 + 32 * 5 / 8));
  QVERIFY(is(TensorType::kQ8_0, "Q8_0", 32, 2 + 32));
  QVERIFY(is(TensorType::kQ8_1, "Q8_1", 32, 2 + 2 + 32));
  QVERIFY(is(TensorType::kQ2_K, "Q2_K", 256, 2 + 2 + 16 + 256 * 2 / 8));
  QVERIFY(is(TensorType::kQ3_K, "Q3_K", 256, 2 + 12 + 256 * 3 / 8));
  QVERIFY(is(TensorType::kQ4_K, "Q4_K", 256, 2 + 2 + 12 + 256 * 4 / 8));
  QVERIFY(is(TensorType::kQ5_K, "Q5_K", 256, 2 + 2 + 12 + 256 * 5 / 8));
  QVERIFY(is(TensorType::kQ6_K, "Q6_K", 256, 2 + 16 + 256 * 6 / 8));
  QVERIFY(is(TensorType::kQ8_K, "Q8_K", 256, 4 + 256 + 16 * 2));
  QVERIFY(is(TensorType::kIQ2_XXS, "IQ2_XXS", 256, 2 + 8 * 8));
  QVERIFY(is(TensorType::kIQ2_XS, "IQ2_XS", 256, 2 + 8 * 8 + 8));
  QVERIFY(is(TensorType::kIQ2_S, "IQ2_S", 256, 2 + 64 + 8 + 8));
  QVERIFY(is(TensorType::kIQ3_XXS, "IQ3_XXS", 256, 2 + 64 + 32));
  QVERIFY(is(TensorType::kIQ3_S, "IQ3_S", 256, 2 + 64 + 8 + 32 + 4));
  QVERIFY(is(TensorType::kIQ1_S, "IQ1_S", 256, 2 + 32 + 16));
  QVERIFY(is(TensorType::kIQ1_M, "IQ1_M", 256, 32 + 16 + 8));
  QVERIFY(is(TensorType::kIQ4_NL, "IQ4_NL", 32, 2 + 16));
  QVERIFY(is(TensorType::kIQ4_XS, "IQ4_XS", 256, 2 + 2 + 4 + 128));
  QVERIFY(is(TensorType::kTQ1_0, "TQ1_0", 256, 2 + 48 + 4));
  QVERIFY(is(TensorType::kTQ2_0, "TQ2_0", 256, 2 + 64));
  QVERIFY(is(TensorType::kMXFP4, "MXFP4", 32, 1 + 16));
  QVERIFY(is(TensorType::kNVFP4, "NVFP4", 64, 4 + 32));
  QVERIFY(is(TensorType::kQ1_0, "Q1_0", 128, 2 + 16));
  QVERIFY(is(static_cast<TensorType>(99), "unknown", 0, 0));
}

// Against Python's hash of bytes, which is SipHash-1-3 with a key of zeros under PYTHONHASHSEED=0.
void TestFile::hashesAsPublished() {
  QCOMPARE(gguf::sipHash13("general.architecture", 0, 0), std::uint64_t{0xECE9F884C10AB568});
  QCOMPARE(gguf::sipHash13("tensor", 0, 0), std::uint64_t{0x65DF3AD1AD888ABB});
}

void TestFile::showsNames() {
  QCOMPARE(gguf::shown("blk.0.attn_q.weight"), std::string("blk.0.attn_q.weight"));
  QCOMPARE(gguf::shown("a\nb\x7F"), std::string("a?b?"));
  QCOMPARE(gguf::shown("é\x01"), std::string("é?"));
  QCOMPARE(gguf::shown("\xC3("), std::string("?("));
  QCOMPARE(gguf::shown(std::string(79, 'a') + "é"), std::string(79, 'a') + "…");
  QCOMPARE(gguf::grouped(0), std::string("0"));
  QCOMPARE(gguf::grouped(999), std::string("999"));
  QCOMPARE(gguf::grouped(1000), std::string("1,000"));
  QCOMPARE(gguf::bytesText(1), std::string("1 byte"));
  QVERIFY(gguf::isUtf8("\xF4\x8F\xBF\xBF") && gguf::isUtf8("\xED\x9F\xBF"));
  for (const char* bad : {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                          "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82"}) {
    QVERIFY(!gguf::isUtf8(bad));
  }
}

void TestFile::readsSmolLm2() {
  const auto file = File::open(realModel("SmolLM2-135M-Instruct.Q4_1.gguf"));
  QVERIFY2(file.ok(), "set TANDEM_MODELS to the folder that holds SmolLM2-135M-Instruct.Q4_1.gguf");
  QCOMPARE((*file)->size(), std::uint64_t{98'362'432});
  QVERIFY(**(*file)->getString("general.architecture") == "llama");
  QCOMPARE((*file)->tensors().size(), std::size_t{272});
  const gguf::TensorInfo* embedding = (*file)->findTensor("token_embd.weight");
  QVERIFY(embedding != nullptr);
  QVERIFY(embedding->type == TensorType::kQ8_0);
  QVERIFY((embedding->dims == std::vector<std::uint64_t>{576, 49152}));
}

void TestFile::readsGemmaQuickly() {
  const std::string path = realModel("gemma-3-270m-Q4_K_M.gguf");
  const CpuTimer timer;
  const auto file = File::open(path);
  const double elapsed = timer.elapsedMs();
  QVERIFY2(file.ok(), "set TANDEM_MODELS to the folder that holds gemma-3-270m-Q4_K_M.gguf");
  qInfo("262,144 tokens: opened in %.1f ms", elapsed);
  QVERIFY(elapsed < 200);
  const auto tokens = (*file)->getArray("tokenizer.ggml.tokens");
  QVERIFY(tokens.ok() && *tokens != nullptr);
  QCOMPARE((*tokens)->strings.size(), std::size_t{262'144});
  QVERIFY((*tokens)->strings[1] == "<eos>");
}

}  // namespace tandem::test

QTEST_APPLESS_MAIN(tandem::test::TestFile)
#include "test_file.moc"
