#include "engine/gguf/parser.h"

#include <bit>

#include "engine/gguf/foreign_format.h"
#include "engine/gguf/text.h"

namespace tandem::gguf {
namespace {

// The shortest records there can be: a key of one byte with a value of one byte, and a tensor of one
// dimension with a name of one byte.
constexpr std::uint64_t kMinEntryBytes = 8 + 1 + 4 + 1;
constexpr std::uint64_t kMinTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;
constexpr std::uint64_t kMinStringBytes = 8;
constexpr std::uint64_t kMinArrayBytes = 4 + 8;

class HeaderParser {
 public:
  explicit HeaderParser(std::span<const std::byte> file) : cursor_(file), size_(file.size()) {}

  Result<Contents> parse();

 private:
  Status readCounts();
  Status checkCount(const char* what, const char* field, std::uint64_t offset, std::uint64_t count,
                    std::uint64_t minBytes) const;
  Status readEntry(std::uint64_t index);
  Status readValue(MetadataEntry& entry);
  template <class Stored, class Kept>
  Status readScalar(MetadataEntry& entry);
  Status readBool(MetadataEntry& entry);
  Status readArray(const std::string& key, std::uint32_t depth, ArrayView& array);
  Status readElements(const std::string& key, std::uint32_t depth, ArrayView& array);
  Status readStrings(const std::string& key, ArrayView& array);
  Status readAlignment();

  Cursor cursor_;
  std::uint64_t size_;
  IndexBudget budget_;
  std::uint64_t tensorCount_ = 0;
  std::uint64_t entryCount_ = 0;
  Contents contents_;
};

Result<Contents> HeaderParser::parse() {
  if (Status status = readCounts(); !status) return status.error();
  contents_.metadata.reserve(entryCount_);
  contents_.keys.reserve(entryCount_);
  for (std::uint64_t i = 0; i < entryCount_; ++i) {
    if (Status status = readEntry(i); !status) return status.error();
  }
  if (Status status = readAlignment(); !status) return status.error();
  // The metadata may have used up the bytes that the count was compared with.
  if (Status status = checkCount("tensors", "tensor_count", 8, tensorCount_, kMinTensorBytes); !status) {
    return status.error();
  }
  if (Status status = readTensorTable(cursor_, tensorCount_, budget_, contents_); !status) {
    return status.error();
  }
  if (Status status = checkComplete(contents_, size_); !status) return status.error();
  return std::move(contents_);
}

Status HeaderParser::readCounts() {
  std::uint32_t magic = 0;
  cursor_.read(magic);
  cursor_.read(contents_.version);
  const std::uint64_t start = cursor_.position();
  if (!cursor_.read(tensorCount_) || !cursor_.read(entryCount_)) {
    return endsEarly("the counts of tensors and metadata entries", "tensor_count", start, 16, size_ - start);
  }
  if (Status status = checkCount("metadata entries", "metadata_kv_count", 16, entryCount_, kMinEntryBytes);
      !status) {
    return status;
  }
  if (Status status = checkCount("tensors", "tensor_count", 8, tensorCount_, kMinTensorBytes); !status)
    return status;
  if (!budget_.charge(entryCount_, sizeof(MetadataEntry) + NameIndex::kBytesPerName)) {
    return tooLarge(grouped(entryCount_) + " metadata entries", "metadata_kv_count", 16);
  }
  return {};
}

Status HeaderParser::checkCount(const char* what, const char* field, std::uint64_t offset,
                                std::uint64_t count, std::uint64_t minBytes) const {
  if (count <= cursor_.left() / minBytes) return {};
  return corrupt(
      "The header announces " + grouped(count) + " " + what + ", but the " + bytesText(cursor_.left()) +
          " that follow have room for " + grouped(cursor_.left() / minBytes) +
          " at most: the file is damaged, or its download stopped inside the header. Download it again.",
      field, offset);
}

Status HeaderParser::readEntry(std::uint64_t index) {
  const std::uint64_t start = cursor_.position();
  MetadataEntry entry{};
  if (Status status = readName(cursor_, "metadata entry " + std::to_string(index), entry.key); !status)
    return status;
  const std::string field = shown(entry.key);
  if (!budget_.charge(1, entry.key.size() + 1)) return tooLarge("the metadata keys", field, start);
  const std::uint64_t typeOffset = cursor_.position();
  std::uint32_t type = 0;
  if (!cursor_.read(type)) {
    return endsEarly("the type of metadata key " + field, field, typeOffset, sizeof type, cursor_.left());
  }
  if (type > static_cast<std::uint32_t>(ValueType::kFloat64)) {
    return corrupt("Metadata key " + field + " has the value type " + grouped(type) +
                       ", which the format does not have (0 to 12): the file is damaged. Download it again.",
                   field, typeOffset);
  }
  entry.type = static_cast<ValueType>(type);
  entry.offset = cursor_.position();
  if (Status status = readValue(entry); !status) return status;
  contents_.metadata.push_back(std::move(entry));
  if (!contents_.keys.insert(contents_.metadata.back().key, static_cast<std::uint32_t>(index))) {
    return corrupt(
        "Metadata key " + field + " stands in the file twice: the file is malformed. Get another copy.",
        field, start);
  }
  return {};
}

Status HeaderParser::readValue(MetadataEntry& entry) {
  switch (entry.type) {
    case ValueType::kUint8:
      return readScalar<std::uint8_t, std::uint64_t>(entry);
    case ValueType::kInt8:
      return readScalar<std::int8_t, std::int64_t>(entry);
    case ValueType::kUint16:
      return readScalar<std::uint16_t, std::uint64_t>(entry);
    case ValueType::kInt16:
      return readScalar<std::int16_t, std::int64_t>(entry);
    case ValueType::kUint32:
      return readScalar<std::uint32_t, std::uint64_t>(entry);
    case ValueType::kInt32:
      return readScalar<std::int32_t, std::int64_t>(entry);
    case ValueType::kFloat32:
      return readScalar<float, double>(entry);
    case ValueType::kUint64:
      return readScalar<std::uint64_t, std::uint64_t>(entry);
    case ValueType::kInt64:
      return readScalar<std::int64_t, std::int64_t>(entry);
    case ValueType::kFloat64:
      return readScalar<double, double>(entry);
    case ValueType::kBool:
      return readBool(entry);
    case ValueType::kString: {
      std::string_view text;
      std::uint64_t length = 0;
      if (!cursor_.readString(text, length)) {
        const std::string field = shown(entry.key);
        return endsEarly("the string of metadata key " + field, field, entry.offset, length, cursor_.left());
      }
      entry.value = text;
      return {};
    }
    case ValueType::kArray: {
      ArrayView array{};
      if (Status status = readArray(entry.key, 1, array); !status) return status;
      entry.value = std::move(array);
      return {};
    }
  }
  return {};
}

template <class Stored, class Kept>
Status HeaderParser::readScalar(MetadataEntry& entry) {
  Stored value;
  if (!cursor_.read(value)) {
    const std::string field = shown(entry.key);
    return endsEarly("the value of metadata key " + field, field, entry.offset, sizeof value, cursor_.left());
  }
  entry.value = Kept{value};
  return {};
}

Status HeaderParser::readBool(MetadataEntry& entry) {
  const std::string field = shown(entry.key);
  std::uint8_t value = 0;
  if (!cursor_.read(value)) {
    return endsEarly("the value of metadata key " + field, field, entry.offset, sizeof value, cursor_.left());
  }
  if (value > 1) {
    return corrupt("Metadata key " + field + " is a boolean but holds " + std::to_string(value) +
                       " instead of 0 or 1: the file is damaged. Download it again.",
                   field, entry.offset);
  }
  entry.value = value == 1;
  return {};
}

Status HeaderParser::readArray(const std::string& key, std::uint32_t depth, ArrayView& array) {
  const std::string field = shown(key);
  const std::uint64_t start = cursor_.position();
  if (depth > kMaxArrayDepth) {
    return Error{ErrorCode::kUnsupported,
                 "Metadata key " + field + " nests arrays more than " + std::to_string(kMaxArrayDepth) +
                     " deep, which this program does not read.",
                 field, start};
  }
  std::uint32_t type = 0;
  if (cursor_.left() < kMinArrayBytes || !cursor_.read(type) || !cursor_.read(array.count)) {
    return endsEarly("the array of metadata key " + field, field, start, kMinArrayBytes, cursor_.left());
  }
  if (type > static_cast<std::uint32_t>(ValueType::kFloat64)) {
    return corrupt("The array of metadata key " + field + " has the element type " + grouped(type) +
                       ", which the format does not have (0 to 12): the file is damaged. Download it again.",
                   field, start);
  }
  array.elementType = static_cast<ValueType>(type);
  std::uint64_t elementBytes = valueSize(array.elementType);
  if (array.elementType == ValueType::kString) elementBytes = kMinStringBytes;
  if (array.elementType == ValueType::kArray) elementBytes = kMinArrayBytes;
  if (array.count > cursor_.left() / elementBytes) {
    return corrupt(
        "The array of metadata key " + field + " announces " + grouped(array.count) + " elements, but the " +
            bytesText(cursor_.left()) + " that follow have room for " +
            grouped(cursor_.left() / elementBytes) +
            " at most: the file is damaged, or its download stopped inside the header. Download it again.",
        field, start + sizeof type);
  }
  return readElements(key, depth, array);
}

// REQUIRES: array.count elements of the smallest size fit into the bytes that are left.
Status HeaderParser::readElements(const std::string& key, std::uint32_t depth, ArrayView& array) {
  if (array.elementType == ValueType::kString) return readStrings(key, array);
  if (array.elementType != ValueType::kArray) {
    cursor_.readBytes(array.count * valueSize(array.elementType), array.bytes);
    return {};
  }
  Cursor outer = cursor_;
  if (!budget_.charge(array.count, sizeof(ArrayView))) {
    return tooLarge("the arrays in metadata key " + shown(key), shown(key), outer.position());
  }
  for (std::uint64_t i = 0; i < array.count; ++i) {
    ArrayView inner{};
    if (Status status = readArray(key, depth + 1, inner); !status) return status;
  }
  outer.readBytes(cursor_.position() - outer.position(), array.bytes);
  return {};
}

Status HeaderParser::readStrings(const std::string& key, ArrayView& array) {
  if (!budget_.charge(array.count, sizeof(std::string_view))) {
    return tooLarge("the strings of metadata key " + shown(key), shown(key), cursor_.position());
  }
  array.strings.reserve(array.count);
  for (std::uint64_t i = 0; i < array.count; ++i) {
    const std::uint64_t start = cursor_.position();
    std::string_view text;
    std::uint64_t length = 0;
    if (!cursor_.readString(text, length)) {
      return endsEarly("string " + grouped(i) + " of metadata key " + shown(key), shown(key), start, length,
                       cursor_.left());
    }
    array.strings.push_back(text);
  }
  return {};
}

Status HeaderParser::readAlignment() {
  constexpr const char* kKey = "general.alignment";
  const auto position = contents_.keys.find(kKey);
  if (!position) return {};
  const MetadataEntry& entry = contents_.metadata[*position];
  if (entry.type != ValueType::kUint32) {
    return corrupt("Metadata key general.alignment must be a UINT32 (type 4) but has the type " +
                       std::to_string(static_cast<std::uint32_t>(entry.type)) +
                       ": the file is malformed. Get another copy.",
                   kKey, entry.offset);
  }
  const std::uint64_t alignment = std::get<std::uint64_t>(entry.value);
  if (!std::has_single_bit(alignment) || alignment < kMinAlignment || alignment > kMaxAlignment) {
    return corrupt("The alignment of the tensor data is " + grouped(alignment) +
                       "; it must be a power of two from 8 to " + grouped(kMaxAlignment) +
                       ": the file is malformed. Get another copy.",
                   kKey, entry.offset);
  }
  contents_.alignment = static_cast<std::uint32_t>(alignment);
  return {};
}

}  // namespace

Result<Contents> parse(std::span<const std::byte> file) {
  if (Status status = checkFormat(file); !status) return status.error();
  return HeaderParser(file).parse();
}

Status readName(Cursor& cursor, const std::string& what, std::string& name) {
  const std::uint64_t start = cursor.position();
  std::string_view text;
  std::uint64_t length = 0;
  if (!cursor.readString(text, length))
    return endsEarly("the name of " + what, what, start, length, cursor.left());
  if (length == 0 || length > kMaxNameBytes) {
    return corrupt("The name of " + what + " has " + bytesText(length) + "; it must have 1 to " +
                       grouped(kMaxNameBytes) + ": the file is damaged. Download it again.",
                   what, start);
  }
  if (!isUtf8(text) || text.find('\0') != std::string_view::npos) {
    return corrupt(
        "The name of " + what + " is not text (" + shown(text) + "): the file is damaged. Download it again.",
        what, start);
  }
  name = text;
  return {};
}

Error endsEarly(const std::string& what, const std::string& field, std::uint64_t offset, std::uint64_t needed,
                std::uint64_t left) {
  // A length that could not even be read stands for its own eight bytes.
  const std::uint64_t wanted = needed == 0 ? sizeof(std::uint64_t) : needed;
  return corrupt(
      "The file ends inside " + what + ": it needs " + bytesText(wanted) + " but only " + bytesText(left) +
          " are left. The file is damaged, or its download stopped inside the header; download it again.",
      field, offset);
}

Error tooLarge(const std::string& what, const std::string& field, std::uint64_t offset) {
  return {ErrorCode::kUnsupported,
          "The header is too large: the index of " + what + " would exceed the " + bytesText(kIndexBudget) +
              " this program allows for a header.",
          field, offset};
}

Error corrupt(const std::string& sentence, const std::string& field, std::uint64_t offset) {
  return {ErrorCode::kCorruptFile, sentence, field, offset};
}

}  // namespace tandem::gguf
