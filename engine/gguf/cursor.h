// A read position in the bytes of a file that never leaves them: each call either reads the whole of what it
// was asked for or reads nothing and says so.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace tandem::gguf {

static_assert(std::endian::native == std::endian::little, "the reader views little-endian values in place");
static_assert(sizeof(std::size_t) == 8, "file sizes are 64 bits");

class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> file) : file_(file) {}

  std::uint64_t position() const { return position_; }  // bytes from the start of the file
  std::uint64_t left() const { return file_.size() - position_; }

  template <class T>
  bool read(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (left() < sizeof(T)) return false;
    std::memcpy(&value, file_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return true;
  }

  bool readBytes(std::uint64_t count, std::span<const std::byte>& bytes) {
    if (left() < count) return false;
    bytes = file_.subspan(position_, count);
    position_ += count;
    return true;
  }

  // A length of 8 bytes and the bytes. After a failure `length` tells which: it is set when it could be read.
  bool readString(std::string_view& text, std::uint64_t& length) {
    length = 0;
    std::span<const std::byte> bytes;
    if (!read(length) || !readBytes(length, bytes)) return false;
    text = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    return true;
  }

 private:
  std::span<const std::byte> file_;
  std::uint64_t position_ = 0;
};

}  // namespace tandem::gguf
