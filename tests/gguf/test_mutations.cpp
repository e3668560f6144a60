// 20,000 damaged headers, the same in each run: each is refused with a whole error, or what it says holds.
#include <QTest>
#include <array>
#include <random>

#include "engine/gguf/parser.h"
#include "tests/gguf/guarded_bytes.h"
#include "tests/gguf/header_bytes.h"

namespace tandem::test {
namespace {

using gguf::encode;

constexpr int kMutants = 20'000;
constexpr std::size_t kCapacity = 64 << 10;
constexpr std::array<std::uint64_t, 16> kOddNumbers = {0,
                                                       1,
                                                       2,
                                                       4,
                                                       8,
                                                       9,
                                                       13,
                                                       31,
                                                       33,
                                                       0x7FFFFFFF,
                                                       0x80000000,
                                                       0xFFFFFFFF,
                                                       std::uint64_t{1} << 61,
                                                       std::uint64_t{1} << 62,
                                                       std::uint64_t{1} << 63,
                                                       ~std::uint64_t{0}};

// A good file with every kind of value and record.
std::string goodFile() {
  const std::array<std::string_view, 4> words = {"<s>", "</s>", "a", "word"};
  const std::array<float, 4> scores = {0, -1, -2, -3};
  HeaderBytes bytes(4, 14);
  bytes.entry("general.architecture", encode(std::string_view("llama")));
  bytes.entry("general.alignment", encode(std::uint32_t{64}));
  bytes.entry("u8", encode(std::uint8_t{1})).entry("i8", encode(std::int8_t{-1}));
  bytes.entry("u16", encode(std::uint16_t{1})).entry("i16", encode(std::int16_t{-1}));
  bytes.entry("u64", encode(std::uint64_t{1})).entry("i64", encode(std::int64_t{-1}));
  bytes.entry("f32", encode(1.0f)).entry("f64", encode(1.0)).entry("bool", encode(true));
  bytes.entry("tokens", gguf::encodeStrings(words));
  bytes.entry("scores", gguf::encodeArray(std::span<const float>(scores)));
  bytes.key("nested", 9).u32(9).u64(2).u32(0).u64(1).u8(7).u32(8).u64(1).string("deep");
  bytes.tensor("token_embd.weight", {32, 4}, 8, 0).tensor("output_norm.weight", {32}, 0, 192);
  bytes.tensor("blk.0.attn_q.weight", {32, 2, 2, 1}, 2, 320).tensor("rope_freqs.weight", {16}, 0, 448);
  return bytes.padTo(64).zeros(512).bytes();
}

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  // One to three faults.
  std::string mutate(std::string bytes) {
    for (std::uint64_t n = 1 + below(3); n > 0; --n)
      change(bytes);
    return bytes;
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return limit == 0 ? 0 : random_() % limit; }

  void change(std::string& bytes) {
    const std::uint64_t at = below(bytes.size());
    const std::uint64_t odd = kOddNumbers[below(kOddNumbers.size())];
    switch (below(6)) {
      case 0:
        flipBit(bytes, at);
        break;
      case 1:
        overwrite(bytes, at, odd, 4);
        break;
      case 2:
        overwrite(bytes, at, odd, 8);
        break;
      case 3:
        bytes.resize(at);
        break;
      case 4:
        bytes.erase(at, 1 + below(16));
        break;
      case 5:
        bytes.insert(at, bytes.substr(below(bytes.size()), 1 + below(64)));
        break;
    }
  }

  void flipBit(std::string& bytes, std::uint64_t at) {
    if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
  }

  void overwrite(std::string& bytes, std::uint64_t at, std::uint64_t number, std::size_t count) {
    if (at + count <= bytes.size()) std::memcpy(bytes.data() + at, &number, count);
  }

  std::mt19937_64 random_;
};

bool lies(std::string_view view, std::span<const std::byte> file) {
  const auto* start = reinterpret_cast<const char*>(file.data());
  return view.empty() || (view.data() >= start && view.data() + view.size() <= start + file.size());
}

// Whether everything that the contents point to lies inside the file, and the indexes find it.
bool holds(const gguf::Contents& contents, std::span<const std::byte> file) {
  for (std::uint32_t i = 0; i < contents.metadata.size(); ++i) {
    const gguf::MetadataEntry& entry = contents.metadata[i];
    if (contents.keys.find(entry.key) != i) return false;
    if (const auto* text = std::get_if<std::string_view>(&entry.value); text && !lies(*text, file))
      return false;
    if (const auto* array = std::get_if<gguf::ArrayView>(&entry.value)) {
      if (!lies({reinterpret_cast<const char*>(array->bytes.data()), array->bytes.size()}, file))
        return false;
      if (array->bytes.size() < array->count * gguf::valueSize(array->elementType)) return false;
      for (const std::string_view text : array->strings) {
        if (!lies(text, file)) return false;
      }
    }
  }
  for (std::uint32_t i = 0; i < contents.tensors.size(); ++i) {
    const gguf::TensorInfo& tensor = contents.tensors[i];
    if (contents.tensorNames.find(tensor.name) != i || tensor.bytes == 0) return false;
    if (tensor.offset > file.size() || tensor.bytes > file.size() - tensor.offset) return false;
  }
  return true;
}

}  // namespace

class TestMutations : public QObject {
  Q_OBJECT
 private slots:
  void damagedHeaders();
};

void TestMutations::damagedHeaders() {
  GuardedBytes memory(kCapacity);
  QVERIFY(memory.ok());
  const std::string good = goodFile();
  QVERIFY(gguf::parse(memory.hold(std::as_bytes(std::span(good)))).ok());
  Mutator mutator(20240601);
  int refused = 0, accepted = 0;
  for (int i = 0; i < kMutants; ++i) {
    const std::string mutant = mutator.mutate(good);
    const std::span<const std::byte> file = memory.hold(std::as_bytes(std::span(mutant)));
    const auto contents = gguf::parse(file);
    if (contents) {
      QVERIFY2(holds(*contents, file), qPrintable(QString("mutant %1").arg(i)));
      ++accepted;
      continue;
    }
    const Error& error = contents.error();
    QVERIFY2(error.code == ErrorCode::kCorruptFile || error.code == ErrorCode::kUnsupported,
             error.message.c_str());
    QVERIFY2(!error.field.empty() && error.offset.has_value(), error.message.c_str());
    QVERIFY2(error.message.ends_with('.'), error.message.c_str());
    QVERIFY2(*error.offset <= file.size(), error.describe().c_str());
    ++refused;
  }
  qInfo("%d mutants refused, %d accepted", refused, accepted);
  QVERIFY(refused > kMutants / 2);
  QVERIFY(accepted > kMutants / 50);
}

}  // namespace tandem::test

QTEST_APPLESS_MAIN(tandem::test::TestMutations)
#include "test_mutations.moc"
