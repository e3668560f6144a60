#include "engine/gguf/encoded_value.h"

namespace tandem::gguf {
namespace {

template <class Stored, class Kept>
std::string scalarBytes(const MetadataEntry& entry) {
  std::string bytes;
  appendRaw(bytes, static_cast<Stored>(std::get<Kept>(entry.value)));
  return bytes;
}

EncodedValue encodeView(const ArrayView& array) {
  if (array.elementType == ValueType::kString) return encodeStrings(array.strings);
  return encodeArray(array.elementType, array.count,
                     {reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size()});
}

}  // namespace

void appendString(std::string& bytes, std::string_view text) {
  appendRaw(bytes, std::uint64_t{text.size()});
  bytes += text;
}

EncodedValue encode(std::string_view text) {
  EncodedValue encoded{ValueType::kString, {}};
  appendString(encoded.bytes, text);
  return encoded;
}

EncodedValue encodeArray(ValueType elementType, std::uint64_t count, std::string_view elements) {
  EncodedValue encoded{ValueType::kArray, {}};
  appendRaw(encoded.bytes, elementType);
  appendRaw(encoded.bytes, count);
  encoded.bytes += elements;
  return encoded;
}

EncodedValue encodeStrings(std::span<const std::string_view> strings) {
  std::string elements;
  for (const std::string_view text : strings)
    appendString(elements, text);
  return encodeArray(ValueType::kString, strings.size(), elements);
}

EncodedValue encode(const MetadataEntry& entry) {
  switch (entry.type) {
    case ValueType::kUint8:
      return {entry.type, scalarBytes<std::uint8_t, std::uint64_t>(entry)};
    case ValueType::kInt8:
      return {entry.type, scalarBytes<std::int8_t, std::int64_t>(entry)};
    case ValueType::kUint16:
      return {entry.type, scalarBytes<std::uint16_t, std::uint64_t>(entry)};
    case ValueType::kInt16:
      return {entry.type, scalarBytes<std::int16_t, std::int64_t>(entry)};
    case ValueType::kUint32:
      return {entry.type, scalarBytes<std::uint32_t, std::uint64_t>(entry)};
    case ValueType::kInt32:
      return {entry.type, scalarBytes<std::int32_t, std::int64_t>(entry)};
    case ValueType::kFloat32:
      return {entry.type, scalarBytes<float, double>(entry)};
    case ValueType::kBool:
      return {entry.type, scalarBytes<bool, bool>(entry)};
    case ValueType::kUint64:
      return {entry.type, scalarBytes<std::uint64_t, std::uint64_t>(entry)};
    case ValueType::kInt64:
      return {entry.type, scalarBytes<std::int64_t, std::int64_t>(entry)};
    case ValueType::kFloat64:
      return {entry.type, scalarBytes<double, double>(entry)};
    case ValueType::kString:
      return encode(std::get<std::string_view>(entry.value));
    case ValueType::kArray:
      return encodeView(std::get<ArrayView>(entry.value));
  }
  return {};
}

}  // namespace tandem::gguf
