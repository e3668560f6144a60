// A GGUF v2/v3 model file, mapped read-only and checked in full when it is opened.
//
// File::open refuses, with a typed error that names the field and the byte offset, whatever contradicts
// itself: every count and size is compared with the bytes that are left before anything is reserved, and all
// size arithmetic is checked in 64 bits. After open() has succeeded every tensor's data lies inside the
// mapping, so no later read can leave it. A File is immutable and may be shared between threads; views into
// it live as long as the File. Format facts: docs/gguf.md.
#pragma once

#include <cassert>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/status.h"
#include "engine/gguf/mapped_file.h"

namespace tandem::gguf {

constexpr std::uint32_t kDefaultAlignment = 32;  // bytes, where general.alignment is absent
constexpr std::uint32_t kMaxDims = 4;            // of a tensor

// Metadata value types, numbered as in the file.
enum class ValueType : std::uint32_t {
  kUint8 = 0,
  kInt8 = 1,
  kUint16 = 2,
  kInt16 = 3,
  kUint32 = 4,
  kInt32 = 5,
  kFloat32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kUint64 = 10,
  kInt64 = 11,
  kFloat64 = 12,
};

// Tensor element types, numbered as in the file. A file with any other type number is refused at open by
// number, because the size of its tensors cannot be known.
enum class TensorType : std::uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,
  kQ4_1 = 3,
  kQ5_0 = 6,
  kQ5_1 = 7,
  kQ8_0 = 8,
  kQ8_1 = 9,
  kQ2_K = 10,
  kQ3_K = 11,
  kQ4_K = 12,
  kQ5_K = 13,
  kQ6_K = 14,
  kQ8_K = 15,
  kIQ2_XXS = 16,
  kIQ2_XS = 17,
  kIQ3_XXS = 18,
  kIQ1_S = 19,
  kIQ4_NL = 20,
  kIQ3_S = 21,
  kIQ2_S = 22,
  kIQ4_XS = 23,
  kI8 = 24,
  kI16 = 25,
  kI32 = 26,
  kI64 = 27,
  kF64 = 28,
  kIQ1_M = 29,
  kBF16 = 30,
  kTQ1_0 = 34,
  kTQ2_0 = 35,
  kMXFP4 = 39,
  kNVFP4 = 40,
  kQ1_0 = 41,
};

// Elements and bytes of one block of `type`; elements is 0 for a type this program does not know.
struct BlockInfo {
  const char* name;
  std::uint32_t elements;
  std::uint32_t bytes;
};
BlockInfo blockInfo(TensorType type);

// Bytes of one value of a fixed-size metadata type; 0 for strings, arrays and unknown numbers.
std::uint32_t valueSize(ValueType type);

// An array in the metadata, viewed in place (strings are indexed at open). The elements of an array of arrays
// are checked but not indexed: `bytes` is then everything between the outer count and the end of the last
// element.
struct ArrayView {
  ValueType elementType;
  std::uint64_t count;
  std::span<const std::byte> bytes;       // raw little-endian elements, not aligned; empty for strings
  std::vector<std::string_view> strings;  // only for string arrays

  // Element i of a fixed-size type, T being the C++ type of `elementType` (std::uint8_t for booleans, because
  // the file may hold any byte there). REQUIRES: i < count
  template <class T>
  T load(std::uint64_t i) const {
    assert(i < count && sizeof(T) == valueSize(elementType));
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    return value;
  }
};

// A value by kind: every unsigned width gives uint64, every signed one int64, both float widths double.
// Strings are the file's bytes as they are, which need not be UTF-8.
using Value = std::variant<std::uint64_t, std::int64_t, double, bool, std::string_view, ArrayView>;

struct MetadataEntry {
  std::string key;  // valid UTF-8, not empty
  ValueType type;
  std::uint64_t offset;  // byte offset of the value in the file
  Value value;
};

struct TensorInfo {
  std::string name;  // valid UTF-8, not empty
  TensorType type;
  std::vector<std::uint64_t> dims;  // fastest first, as the file gives them; 1 to 4 of them, none 0
  std::uint64_t elements;           // product of dims
  std::uint64_t bytes;
  std::uint64_t offset;  // from the start of the file
};

class File {
 public:
  // Maps and checks the file. Errors: kNotFound, kIo, kCorruptFile, kUnsupported, kOutOfMemory.
  static Result<std::shared_ptr<const File>> open(const std::string& path);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const;
  std::uint64_t size() const;                // bytes
  const FileIdentity& identity() const;      // when it was opened
  std::span<const std::byte> bytes() const;  // the whole file
  std::uint32_t version() const;
  std::uint32_t alignment() const;  // bytes

  const std::vector<MetadataEntry>& metadata() const;
  const std::vector<TensorInfo>& tensors() const;
  const MetadataEntry* find(std::string_view key) const;      // nullptr when absent; O(1)
  const TensorInfo* findTensor(std::string_view name) const;  // nullptr when absent; O(1)
  std::span<const std::byte> data(const TensorInfo& tensor) const;

  // Typed reads. An absent key gives nullopt; a key of another kind is an error that names it. Integers of
  // every width are accepted where they fit; floats accept F32 and F64.
  Result<std::optional<std::uint64_t>> getUint(std::string_view key) const;
  Result<std::optional<double>> getFloat(std::string_view key) const;
  Result<std::optional<bool>> getBool(std::string_view key) const;
  Result<std::optional<std::string_view>> getString(std::string_view key) const;
  Result<const ArrayView*> getArray(std::string_view key) const;  // nullptr when absent

  // Gives back the pages that hold `part`, a part of bytes(), and those around it: they take no memory of
  // this process until they are read again.
  void releasePages(std::span<const std::byte> part) const;

 private:
  struct Impl;
  explicit File(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem::gguf
