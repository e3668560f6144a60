// What the reader must refuse in the header: counts, lengths, types, names, shapes, alignment.
#include <QTest>
#include <limits>

#include "tests/gguf/header_bytes.h"
#include "tests/gguf/refusal.h"

namespace tandem::test {
namespace {

using gguf::encode;

constexpr std::uint64_t kMax64 = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t kMax32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kHeaderBytes = 24;  // magic, version and counts
constexpr std::uint32_t kF32 = 0, kQ4_0 = 2, kI8 = 24;
constexpr std::uint32_t kUint32 = 4, kBool = 7, kString = 8, kArray = 9;

constexpr std::uint64_t power(int exponent) {
  return std::uint64_t{1} << exponent;
}

Refusal corrupt(const std::string& field, std::uint64_t offset, const std::string& sentence) {
  return {ErrorCode::kCorruptFile, field, offset, sentence};
}

// Where the parts of the first tensor record stand, when it is called "t" and follows the counts.
constexpr std::uint64_t kDimCountAt = kHeaderBytes + 8 + 1;
constexpr std::uint64_t dimAt(std::uint64_t i) {
  return kDimCountAt + 4 + 8 * i;
}
constexpr std::uint64_t kTypeAfter1 = dimAt(1), kTypeAfter2 = dimAt(2);

HeaderBytes oneTensor(std::initializer_list<std::uint64_t> dims, std::uint32_t type) {
  return HeaderBytes(1, 0).tensor("t", dims, type, 0).padTo(32).zeros(4096);
}

// A file whose only key is "k", up to where its value begins (byte 37).
HeaderBytes oneKey(std::uint32_t type) {
  return HeaderBytes(0, 1).key("k", type);
}
constexpr std::uint64_t kValueAt = kHeaderBytes + 8 + 1 + 4;

}  // namespace

class TestHeaderRefusals : public QObject {
  Q_OBJECT
 private slots:
  void counts_data();
  void counts() { checkRefusal(); }
  void lengths_data();
  void lengths() { checkRefusal(); }
  void values_data();
  void values() { checkRefusal(); }
  void names_data();
  void names() { checkRefusal(); }
  void shapes_data();
  void shapes() { checkRefusal(); }
  void alignments_data();
  void alignments() { checkRefusal(); }
};

void TestHeaderRefusals::counts_data() {
  addRefusalColumns();
  const auto keys = [](std::uint64_t n) { return HeaderBytes(0, n).bytes(); };
  const auto tensors = [](std::uint64_t n) { return HeaderBytes(n, 0).bytes(); };
  addRefusal("2^64-1 keys", keys(kMax64),
             corrupt("metadata_kv_count", 16,
                     "announces 18,446,744,073,709,551,615 metadata entries, but the 0 bytes"));
  addRefusal("2^61 keys", keys(power(61)), corrupt("metadata_kv_count", 16, "room for 0 at most"));
  addRefusal("2^63 tensors", tensors(power(63)),
             corrupt("tensor_count", 8, "9,223,372,036,854,775,808 tensors"));
  addRefusal("2^60 tensors", tensors(power(60)),
             corrupt("tensor_count", 8, "download stopped inside the header"));
  addRefusal("one key more than there is room for", HeaderBytes(0, 11).zeros(10 * 14).bytes(),
             corrupt("metadata_kv_count", 16, "room for 10 at most"));
  addRefusal("the keys take the room of the tensors",
             HeaderBytes(3, 1)
                 .entry("k", encode(std::string_view("0123456789012345678901234567890123456789"
                                                     "01234567890123456789")))
                 .zeros(40)
                 .bytes(),
             corrupt("tensor_count", 8, "the 40 bytes that follow have room for 1 at most"));
  addRefusal("the counts are cut off", HeaderBytes(0, 0).bytes().substr(0, 20),
             corrupt("tensor_count", 8, "needs 16 bytes but only 12 bytes are left"));
}

void TestHeaderRefusals::lengths_data() {
  addRefusalColumns();
  addRefusal(
      "key of 2^48-1 bytes", HeaderBytes(0, 1).u64(0xFFFFFFFFFFFF).zeros(8).bytes(),
      corrupt("metadata entry 0", kHeaderBytes, "needs 281,474,976,710,655 bytes but only 8 bytes are left"));
  addRefusal("string of 2^63 bytes", oneKey(kString).u64(power(63)).zeros(8).bytes(),
             corrupt("k", kValueAt, "needs 9,223,372,036,854,775,808 bytes"));
  addRefusal("string of 2^64-1 bytes", oneKey(kString).u64(kMax64).zeros(8).bytes(),
             corrupt("k", kValueAt, "needs 18,446,744,073,709,551,615 bytes"));
  addRefusal("string one byte short", oneKey(kString).u64(9).zeros(8).bytes(),
             corrupt("k", kValueAt, "needs 9 bytes but only 8 bytes are left"));
  addRefusal("string without its length", oneKey(kString).zeros(7).bytes(),
             corrupt("k", kValueAt, "needs 8 bytes but only 7 bytes are left"));
  addRefusal("array of 2^62 u32", oneKey(kArray).u32(kUint32).u64(power(62)).zeros(64).bytes(),
             corrupt("k", kValueAt + 4, "4,611,686,018,427,387,904 elements, but the 64 bytes that follow"));
  addRefusal("array of 2^61 strings", oneKey(kArray).u32(kString).u64(power(61)).zeros(64).bytes(),
             corrupt("k", kValueAt + 4, "have room for 8 at most"));
  addRefusal("array of 2^60 arrays", oneKey(kArray).u32(kArray).u64(power(60)).zeros(64).bytes(),
             corrupt("k", kValueAt + 4, "have room for 5 at most"));
  addRefusal("array one element short", oneKey(kArray).u32(kUint32).u64(3).zeros(8).bytes(),
             corrupt("k", kValueAt + 4, "room for 2 at most"));
  addRefusal("array without its count", oneKey(kArray).u32(kUint32).zeros(7).bytes(),
             corrupt("k", kValueAt, "inside the array of metadata key k"));
  addRefusal("string in an array of 2^63 bytes", oneKey(kArray).u32(kString).u64(1).u64(power(63)).bytes(),
             corrupt("k", kValueAt + 12, "string 0 of metadata key k"));
  addRefusal("scalar cut off", oneKey(kUint32).zeros(3).bytes(), corrupt("k", kValueAt, "needs 4 bytes"));
  addRefusal("type cut off", HeaderBytes(0, 1).string("key").zeros(3).bytes(),
             corrupt("key", kHeaderBytes + 11, "inside the type of metadata key key"));
  addRefusal("tensor name of 2^63 bytes", HeaderBytes(1, 0).u64(power(63)).zeros(64).bytes(),
             corrupt("tensor 0", kHeaderBytes, "inside the name of tensor 0"));
  addRefusal("tensor record cut off", HeaderBytes(1, 0).string("tt").u32(2).u64(1).u64(1).zeros(3).bytes(),
             corrupt("tt", kHeaderBytes + 10 + 4 + 16, "inside the type of tensor tt"));
}

void TestHeaderRefusals::values_data() {
  addRefusalColumns();
  addRefusal("value type 13", oneKey(13).zeros(8).bytes(), corrupt("k", kValueAt - 4, "value type 13"));
  addRefusal("element type 13", oneKey(kArray).u32(13).u64(1).zeros(8).bytes(),
             corrupt("k", kValueAt, "element type 13"));
  addRefusal("boolean 2", oneKey(kBool).u8(2).zeros(8).bytes(),
             corrupt("k", kValueAt, "holds 2 instead of 0 or 1"));
  HeaderBytes nested = oneKey(kArray);
  for (int depth = 0; depth < 5; ++depth)
    nested.u32(kArray).u64(1);
  addRefusal("arrays nested five deep", nested.bytes(),
             {ErrorCode::kUnsupported, "k", kValueAt + 4 * 12, "nests arrays more than 4 deep"});
  addRefusal("tensor type 99", oneTensor({32}, 99).bytes(),
             {ErrorCode::kUnsupported, "t", kTypeAfter1, "element type 99"});
  addRefusal("tensor type 4, which the format gave up", oneTensor({32}, 4).bytes(),
             {ErrorCode::kUnsupported, "t", kTypeAfter1, "element type 4,"});
  addRefusal("tensor type 2^32-1", oneTensor({32}, kMax32).bytes(),
             {ErrorCode::kUnsupported, "t", kTypeAfter1, "element type 4,294,967,295"});
}

void TestHeaderRefusals::names_data() {
  addRefusalColumns();
  HeaderBytes twice(0, 2);
  twice.entry("twin", encode(1u));
  const std::uint64_t secondKey = twice.size();
  addRefusal("duplicate key", twice.entry("twin", encode(2u)).bytes(),
             corrupt("twin", secondKey, "Metadata key twin stands in the file twice"));
  HeaderBytes tensors(2, 0);
  tensors.tensor("twin", {8}, kF32, 0);
  const std::uint64_t secondTensor = tensors.size();
  addRefusal("duplicate tensor", tensors.tensor("twin", {8}, kF32, 32).padTo(32).zeros(64).bytes(),
             corrupt("twin", secondTensor, "Tensor twin stands in the file twice"));

  constexpr std::uint64_t kMany = 100'000;
  HeaderBytes many(kMany + 1, 0);
  for (std::uint64_t i = 0; i < kMany; ++i)
    many.tensor("tensor." + std::to_string(i), {8}, kF32, 32 * i);
  const std::uint64_t last = many.size();
  many.tensor("tensor.50000", {8}, kF32, 32 * kMany).padTo(32);
  addRefusal("duplicate among 100,000 tensors", many.bytes(), corrupt("tensor.50000", last, "twice"),
             many.size() + 32 * (kMany + 1));

  addRefusal("empty key", HeaderBytes(0, 1).entry("", encode(1u)).zeros(8).bytes(),
             corrupt("metadata entry 0", kHeaderBytes, "has 0 bytes"));
  addRefusal("key of 65,536 bytes", HeaderBytes(0, 1).entry(std::string(65536, 'k'), encode(1u)).bytes(),
             corrupt("metadata entry 0", kHeaderBytes, "has 65,536 bytes"));
  addRefusal("key that is not UTF-8", HeaderBytes(0, 1).entry("k\xFF", encode(1u)).bytes(),
             corrupt("metadata entry 0", kHeaderBytes, "is not text (k?)"));
  addRefusal("key with a zero byte", HeaderBytes(0, 1).entry(std::string_view("k\0k", 3), encode(1u)).bytes(),
             corrupt("metadata entry 0", kHeaderBytes, "is not text (k?k)"));
  addRefusal("tensor without a name", HeaderBytes(1, 0).tensor("", {8}, kF32, 0).zeros(64).bytes(),
             corrupt("tensor 0", kHeaderBytes, "has 0 bytes"));
  addRefusal("tensor name that is a lone surrogate",
             HeaderBytes(1, 0).tensor("t\xED\xA0\x80", {8}, kF32, 0).zeros(64).bytes(),
             corrupt("tensor 0", kHeaderBytes, "is not text"));
}

void TestHeaderRefusals::shapes_data() {
  addRefusalColumns();
  const std::string tooMany = "multiply to 2^63 or more elements";
  addRefusal("product wraps to 2^22", oneTensor({power(42) + 1, power(22)}, kF32).bytes(),
             corrupt("t", dimAt(1), tooMany));
  addRefusal("product wraps to 0", oneTensor({power(32), power(32)}, kF32).bytes(),
             corrupt("t", dimAt(1), tooMany));
  addRefusal("product of four wraps", oneTensor({power(16), power(16), power(16), power(16)}, kI8).bytes(),
             corrupt("t", dimAt(3), tooMany));
  addRefusal("bytes wrap", oneTensor({power(62)}, kF32).bytes(),
             corrupt("t", kTypeAfter1, "would have 2^63 bytes or more"));
  addRefusal("bytes reach 2^63", oneTensor({power(61)}, kF32).bytes(),
             corrupt("t", kTypeAfter1, "would have 2^63 bytes or more"));
  addRefusal("row that is no whole block", oneTensor({33}, kQ4_0).bytes(),
             corrupt("t", kTypeAfter1, "have 33 elements, but Q4_0 stores blocks of 32"));
  addRefusal("rows that are no whole blocks together", oneTensor({16, 2}, kQ4_0).bytes(),
             corrupt("t", kTypeAfter2, "have 16 elements"));
  addRefusal(
      "sizes that add up past 2^63",
      HeaderBytes(2, 0).tensor("t", {power(62)}, kI8, 0).tensor("u", {power(62)}, kI8, 0).zeros(64).bytes(),
      corrupt("u", kHeaderBytes + 33 + 25, "add up to 2^63 bytes or more"));

  const std::string zero = "it must be from 1 to 2^63 - 1";
  addRefusal("zero in place 0", oneTensor({0, 4, 4, 4}, kF32).bytes(), corrupt("t", dimAt(0), zero));
  addRefusal("zero in place 1", oneTensor({4, 0, 4, 4}, kF32).bytes(), corrupt("t", dimAt(1), zero));
  addRefusal("zero in place 2", oneTensor({4, 4, 0, 4}, kF32).bytes(), corrupt("t", dimAt(2), zero));
  addRefusal("zero in place 3", oneTensor({4, 4, 4, 0}, kF32).bytes(), corrupt("t", dimAt(3), zero));
  addRefusal("{4, 0}", oneTensor({4, 0}, kF32).bytes(), corrupt("t", dimAt(1), zero));
  addRefusal("{0, 4}", oneTensor({0, 4}, kF32).bytes(), corrupt("t", dimAt(0), zero));
  addRefusal("zero in a file of 65 bytes",
             HeaderBytes(1, 0).tensor("tensor00", {0}, kF32, 0).zeros(1).bytes(),
             corrupt("tensor00", dimAt(0) + 7, "Dimension 0 of tensor tensor00 is 0"));
  addRefusal("sign bit", oneTensor({power(63)}, kF32).bytes(), corrupt("t", dimAt(0), zero));
  addRefusal("2^64-1", oneTensor({32, kMax64}, kF32).bytes(), corrupt("t", dimAt(1), zero));

  const auto dimCount = [](std::uint32_t count) {
    return HeaderBytes(1, 0).string("t").u32(count).zeros(256).bytes();
  };
  addRefusal("no dimensions", dimCount(0),
             corrupt("t", kDimCountAt, "has 0 dimensions; it must have 1 to 4"));
  addRefusal("5 dimensions", dimCount(5), corrupt("t", kDimCountAt, "has 5 dimensions"));
  addRefusal("2^32-1 dimensions", dimCount(kMax32),
             corrupt("t", kDimCountAt, "has 4,294,967,295 dimensions"));
}

void TestHeaderRefusals::alignments_data() {
  addRefusalColumns();
  constexpr const char* kKey = "general.alignment";
  constexpr std::uint64_t kAt = kHeaderBytes + 8 + 17 + 4;
  const auto row = [&](const char* name, const gguf::EncodedValue& value, const std::string& sentence) {
    HeaderBytes file(1, 1);
    file.entry(kKey, value).tensor("t", {8}, kF32, 0).zeros(8192);
    addRefusal(name, file.bytes(), corrupt(kKey, kAt, sentence));
  };
  const std::string range = "it must be a power of two from 8 to 16,777,216";
  const std::string type = "must be a UINT32";
  row("0", encode(std::uint32_t{0}), range);
  row("1", encode(std::uint32_t{1}), range);
  row("3", encode(std::uint32_t{3}), range);
  row("48", encode(std::uint32_t{48}), range);
  row("2^31", encode(std::uint32_t{0x80000000}), range);
  row("2^32-1", encode(kMax32), "The alignment of the tensor data is 4,294,967,295");
  row("i32", encode(std::int32_t{32}), type);
  row("u64", encode(std::uint64_t{32}), type);
  row("string", encode(std::string_view("32")), type);
  const std::uint32_t elements[] = {32};
  row("array", gguf::encodeArray(std::span<const std::uint32_t>(elements)), type);
}

}  // namespace tandem::test

QTEST_APPLESS_MAIN(tandem::test::TestHeaderRefusals)
#include "test_header_refusals.moc"
