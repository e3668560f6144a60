// Builds the bytes of GGUF files by hand, faults included, for the tests of the reader. A plain value.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "engine/gguf/encoded_value.h"

namespace tandem::test {

class HeaderBytes {
 public:
  // The first 24 bytes: magic, version and counts, as given.
  HeaderBytes(std::uint64_t tensorCount, std::uint64_t entryCount, std::uint32_t version = 3)
      : bytes_("GGUF") {
    u32(version).u64(tensorCount).u64(entryCount);
  }

  HeaderBytes& u8(std::uint8_t value) { return number(value); }
  HeaderBytes& u32(std::uint32_t value) { return number(value); }
  HeaderBytes& u64(std::uint64_t value) { return number(value); }
  HeaderBytes& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  HeaderBytes& string(std::string_view text) {
    gguf::appendString(bytes_, text);
    return *this;
  }
  HeaderBytes& zeros(std::uint64_t count) {
    bytes_.append(count, '\0');
    return *this;
  }
  HeaderBytes& padTo(std::uint64_t alignment) {
    return zeros((alignment - bytes_.size() % alignment) % alignment);
  }

  // A key and its type number; the value is up to the caller.
  HeaderBytes& key(std::string_view name, std::uint32_t type) { return string(name).u32(type); }
  HeaderBytes& entry(std::string_view name, const gguf::EncodedValue& value) {
    return key(name, static_cast<std::uint32_t>(value.type)).raw(value.bytes);
  }
  // A tensor record: 12 bytes and the name, 8 for each dimension, 4 for the type, 8 for the offset.
  HeaderBytes& tensor(std::string_view name, std::initializer_list<std::uint64_t> dims, std::uint32_t type,
                      std::uint64_t offset) {
    string(name).u32(static_cast<std::uint32_t>(dims.size()));
    for (const std::uint64_t dim : dims)
      u64(dim);
    return u32(type).u64(offset);
  }

  const std::string& bytes() const { return bytes_; }
  std::uint64_t size() const { return bytes_.size(); }

 private:
  template <class T>
  HeaderBytes& number(T value) {
    gguf::appendRaw(bytes_, value);
    return *this;
  }
  std::string bytes_;
};

}  // namespace tandem::test
