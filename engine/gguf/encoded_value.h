// A metadata value in the bytes a GGUF file stores, made from C++ values or copied from another file.
// Plain values, owned by whoever holds them.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/gguf/file.h"

namespace tandem::gguf {

struct EncodedValue {
  ValueType type = ValueType::kUint8;
  std::string bytes;  // what follows the type number
};

template <class T, class... Types>
concept OneOf = (std::same_as<T, Types> || ...);

// The eleven types of fixed size; which one is written follows from the C++ type alone.
template <class T>
concept FixedSize = OneOf<T, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t,
                          std::int32_t, float, bool, std::uint64_t, std::int64_t, double>;

template <FixedSize T>
constexpr ValueType valueTypeOf() {
  if constexpr (std::same_as<T, std::uint8_t>) return ValueType::kUint8;
  if constexpr (std::same_as<T, std::int8_t>) return ValueType::kInt8;
  if constexpr (std::same_as<T, std::uint16_t>) return ValueType::kUint16;
  if constexpr (std::same_as<T, std::int16_t>) return ValueType::kInt16;
  if constexpr (std::same_as<T, std::uint32_t>) return ValueType::kUint32;
  if constexpr (std::same_as<T, std::int32_t>) return ValueType::kInt32;
  if constexpr (std::same_as<T, float>) return ValueType::kFloat32;
  if constexpr (std::same_as<T, bool>) return ValueType::kBool;
  if constexpr (std::same_as<T, std::uint64_t>) return ValueType::kUint64;
  if constexpr (std::same_as<T, std::int64_t>) return ValueType::kInt64;
  if constexpr (std::same_as<T, double>) return ValueType::kFloat64;
}

// Appends a number as the file stores it.
template <class T>
void appendRaw(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}
// Appends a length of eight bytes and the text.
void appendString(std::string& bytes, std::string_view text);

template <FixedSize T>
EncodedValue encode(T value) {
  EncodedValue encoded{valueTypeOf<T>(), {}};
  appendRaw(encoded.bytes, value);
  return encoded;
}
EncodedValue encode(std::string_view text);

// An array of `count` elements whose bytes are given.
EncodedValue encodeArray(ValueType elementType, std::uint64_t count, std::string_view elements);
template <FixedSize T>
EncodedValue encodeArray(std::span<const T> values) {
  return encodeArray(valueTypeOf<T>(), values.size(),
                     {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}
EncodedValue encodeStrings(std::span<const std::string_view> strings);

// The value of a file's entry, byte for byte.
EncodedValue encode(const MetadataEntry& entry);

}  // namespace tandem::gguf
