// What the reader must refuse beyond the header: where the data lies, files that are no models, paths, and
// size limits.
#include <sys/stat.h>

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include "engine/gguf/file.h"
#include "engine/gguf/parser.h"
#include "tests/gguf/header_bytes.h"
#include "tests/gguf/refusal.h"

namespace tandem::test {
namespace {

using gguf::encode;
using namespace std::string_literals;

constexpr std::uint32_t kF32 = 0, kI8 = 24, kString = 8, kArray = 9;
// Of a file with the tensors "a" and "b" of one dimension: where their offsets stand, and where the data
// begins.
constexpr std::uint64_t kRecordBytes = 8 + 1 + 4 + 8 + 4 + 8;
constexpr std::uint64_t kOffsetA = 24 + kRecordBytes - 8;
constexpr std::uint64_t kOffsetB = kOffsetA + kRecordBytes;
constexpr std::uint64_t kDataStart = 96;

Refusal corrupt(const std::string& field, std::uint64_t offset, const std::string& sentence) {
  return {ErrorCode::kCorruptFile, field, offset, sentence};
}
Refusal foreign(const std::string& sentence) {
  return {ErrorCode::kUnsupported, "magic", 0, sentence};
}

// Two tensors of 32 F32 each (128 bytes) at the given offsets.
std::string twoTensors(std::uint64_t offsetA, std::uint64_t offsetB) {
  return HeaderBytes(2, 0)
      .tensor("a", {32}, kF32, offsetA)
      .tensor("b", {32}, kF32, offsetB)
      .padTo(32)
      .bytes();
}

}  // namespace

class TestDataRefusals : public QObject {
  Q_OBJECT
 private slots:
  void offsets_data();
  void offsets() { checkRefusal(); }
  void downloads_data();
  void downloads() { checkRefusal(); }
  void formats_data();
  void formats() { checkRefusal(); }
  void limits_data();
  void limits() { checkRefusal(); }
  void paths();
};

void TestDataRefusals::offsets_data() {
  addRefusalColumns();
  addRefusal("unaligned", twoTensors(0, 132), corrupt("b", kOffsetB, "not a multiple of the alignment 32"),
             1024);
  addRefusal("past the end", twoTensors(0, 1 << 20),
             corrupt("b", kOffsetB, "should lie at bytes 1,048,672 to 1,048,800"), 1024);
  addRefusal("past the end by one element", twoTensors(0, 832),
             corrupt("b", kOffsetB, "should lie at bytes 928 to 1,056, but the file has only 1,024 bytes"),
             1024);
  addRefusal("offset + size wraps", twoTensors(0, ~std::uint64_t{31}),
             corrupt("b", kOffsetB, "byte 2^63 or later"), 1024);
  addRefusal("offset is 2^63 - 32", twoTensors(0, (std::uint64_t{1} << 63) - 32),
             corrupt("b", kOffsetB, "byte 2^63 or later"), 1024);
  addRefusal("two tensors in one place", twoTensors(0, 0),
             corrupt("b", kOffsetB, "tensor b begins inside the data of tensor a"), 1024);
  addRefusal("two tensors overlap", twoTensors(96, 0),
             corrupt("a", kOffsetA, "tensor a begins inside the data of tensor b"), 1024);
  addRefusal(
      "one tensor inside another",
      HeaderBytes(2, 0).tensor("a", {512}, kI8, 0).tensor("b", {32}, kI8, 64).padTo(32).zeros(1024).bytes(),
      corrupt("b", kOffsetB, "tensor b begins inside the data of tensor a"));
}

void TestDataRefusals::downloads_data() {
  addRefusalColumns();
  const std::string header = twoTensors(0, 128);
  const std::uint64_t whole = kDataStart + 256;
  const auto row = [&](const char* name, std::uint64_t size, const char* field, const std::string& sentence) {
    addRefusal(name, header, corrupt(field, size, sentence), size);
  };
  row("one byte short", whole - 1, "b", "has 351 bytes of the 352 it needs; its download stopped at 99 %");
  row("stopped at 61 %", 215, "a", "has 215 bytes of the 352 it needs; its download stopped at 61 %");
  row("no data section", kDataStart, "a", "has 96 bytes of the 352 it needs");
  row("ends before the padding", kDataStart - 6, "a", "has 90 bytes of the 352 it needs");
  addRefusal("a large model stopped at 61 %", HeaderBytes(1, 0).tensor("a", {10'000'000'000}, kI8, 0).bytes(),
             corrupt("a", 6'100'000'100,
                     "has 6,100,000,100 bytes of the 10,000,000,064 it needs; its download stopped "
                     "at 61 %"),
             6'100'000'100);
  addRefusal("stopped inside the header", header.substr(0, 50),
             corrupt("tensor_count", 8, "download stopped inside the header"));
  addRefusal("empty", "", corrupt("magic", 0, "The file is empty"));
  addRefusal("two bytes", "GG", corrupt("version", 2, "ends after 2 bytes"));
  addRefusal("magic only", "GGUF", corrupt("version", 4, "ends after 4 bytes"));
  addRefusal("seven bytes", "GGUF\3\0\0"s, corrupt("version", 7, "ends after 7 bytes"));
  addRefusal("reserved, never written", "", corrupt("magic", 0, "nothing but zero bytes"), 98'362'432);
}

void TestDataRefusals::formats_data() {
  addRefusalColumns();
  const auto version = [](std::uint32_t number) { return HeaderBytes(0, 0, number).bytes(); };
  const auto row = [](const char* name, const std::string& bytes, const Refusal& refusal) {
    addRefusal(name, bytes, refusal, 4096);
  };
  addRefusal(
      "Git LFS pointer", "version https://git-lfs.invalid/spec/v1\noid sha256:b179c952\nsize 98362432\n",
      corrupt("magic", 0, "a Git LFS pointer of 74 bytes, not the model of 98,362,432 bytes it stands for"));
  addRefusal("Git LFS pointer without a size", "version https://git-lfs.invalid/spec/v1\n",
             corrupt("magic", 0, "not the model it stands for; run \"git lfs pull\""));
  row("web page", "<!DOCTYPE html><html>", corrupt("magic", 0, "a web page of 4,096 bytes"));
  row("web page after blanks", "\xEF\xBB\xBF\r\n  <HTML lang=en>", corrupt("magic", 0, "a web page"));
  row("error document", "<?xml version=\"1.0\"?><Error>", corrupt("magic", 0, "a web page"));
  row("gzip", "\x1f\x8b\x08", foreign("a gzip archive"));
  row("zip", "PK\x03\x04", foreign("a zip archive"));
  row("xz", "\xFD"s + "7zXZ\0"s, foreign("an xz archive"));
  row("Zstandard", "\x28\xB5\x2F\xFD", foreign("a Zstandard archive"));
  row("bzip2", "BZh91AY", foreign("a bzip2 archive"));
  row("GGML", "lmgg", foreign("a GGML file"));
  row("GGMF", "fmgg", foreign("a GGMF file"));
  row("GGJT", "tjgg\3", foreign("a GGJT file"));
  row("safetensors", "\x40\0\0\0\0\0\0\0{\"__metadata__\""s, foreign("a safetensors file"));
  row("text", "Hello", foreign("starts with the bytes 48 65 6c 6c instead of 47 47 55 46"));
  addRefusal("one byte", "x", foreign("starts with the bytes 78 instead of"));
  row("big-endian", "GGUF\0\0\0\3"s, {ErrorCode::kUnsupported, "version", 4, "a big-endian GGUF file"});
  addRefusal("version 0", version(0), corrupt("version", 4, "version 0, which does not exist"));
  addRefusal("version 1", version(1), {ErrorCode::kUnsupported, "version", 4, "the old version 1"});
  addRefusal("version 4", version(4), {ErrorCode::kUnsupported, "version", 4, "of version 4"});
}

void TestDataRefusals::limits_data() {
  addRefusalColumns();
  const auto large = [](const char* field, std::uint64_t offset) {
    return Refusal{ErrorCode::kUnsupported, field, offset, "The header is too large"};
  };
  addRefusal("4 million empty strings",
             HeaderBytes(0, 1).key("k", kArray).u32(kString).u64(4'000'000).bytes(), large("k", 49),
             40'000'000);
  addRefusal("4 million empty arrays", HeaderBytes(0, 1).key("k", kArray).u32(kArray).u64(4'000'000).bytes(),
             large("k", 49), 60'000'000);
  addRefusal("400,000 keys", HeaderBytes(0, 400'000).bytes(), large("metadata_kv_count", 16), 40'000'000);
  addRefusal("400,000 tensors", HeaderBytes(400'000, 0).bytes(), large("tensor_count", 8), 40'000'000);

  // Keys as long as they may be, until what is kept of each adds up to the budget.
  constexpr std::uint64_t kKeys = 900;
  constexpr std::uint64_t kRecords = kKeys * (sizeof(gguf::MetadataEntry) + gguf::NameIndex::kBytesPerName);
  constexpr std::uint64_t kKept = (gguf::kIndexBudget - kRecords) / (gguf::kMaxNameBytes + 1);
  HeaderBytes keys(0, kKeys);
  std::uint64_t refusedAt = 0;
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    if (i == kKept) refusedAt = keys.size();
    keys.entry(std::string(gguf::kMaxNameBytes - 5, 'k') + std::to_string(10'000 + i),
               encode(std::uint8_t{1}));
  }
  addRefusal("keys of 65,535 bytes", keys.bytes(), large((std::string(80, 'k') + "…").c_str(), refusedAt));
}

void TestDataRefusals::paths() {
  QTemporaryDir folder;
  QVERIFY(folder.isValid());
  const std::string missing = folder.filePath("missing.gguf").toStdString();
  const std::string pipe = folder.filePath("pipe.gguf").toStdString();
  QCOMPARE(::mkfifo(pipe.c_str(), 0600), 0);

  const auto notThere = gguf::File::open(missing);
  QVERIFY(!notThere);
  QVERIFY(notThere.error().code == ErrorCode::kNotFound);
  QVERIFY(notThere.error().message.find("missing.gguf") != std::string::npos);

  const auto directory = gguf::File::open(folder.path().toStdString());
  QVERIFY(!directory);
  QVERIFY(directory.error().code == ErrorCode::kIo);
  QVERIFY(directory.error().message.find("is not a file but a folder") != std::string::npos);

  QElapsedTimer timer;
  timer.start();
  const auto waiting = gguf::File::open(pipe);
  QVERIFY(!waiting);
  QVERIFY(waiting.error().code == ErrorCode::kIo);
  QVERIFY(waiting.error().message.find("device or pipe") != std::string::npos);
  QVERIFY(timer.elapsed() < 1000);
}

}  // namespace tandem::test

QTEST_APPLESS_MAIN(tandem::test::TestDataRefusals)
#include "test_data_refusals.moc"
