#include "engine/tokenizer/byte_alphabet.h"

#include <array>
#include <cstddef>

#include "engine/tokenizer/utf8.h"

namespace tandem {

namespace {

constexpr char32_t kShifted = 0x100;  // the first code point of the bytes that are not printable
constexpr std::size_t kShiftedCount = 68;

constexpr bool isPrintable(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

// The bytes that are not printable, in order: entry i is spelled U+0100 + i.
constexpr std::array<std::uint8_t, kShiftedCount> makeShiftedBytes() {
  std::array<std::uint8_t, kShiftedCount> bytes{};
  std::size_t count = 0;
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (!isPrintable(byte)) bytes[count++] = static_cast<std::uint8_t>(byte);
  }
  return bytes;
}

constexpr std::array<std::uint8_t, kShiftedCount> kShiftedBytes = makeShiftedBytes();

}  // namespace

std::string spellByte(std::uint8_t byte) {
  char32_t code = byte;
  for (std::size_t i = 0; i < kShiftedCount; ++i) {
    if (kShiftedBytes[i] == byte) code = kShifted + static_cast<char32_t>(i);
  }
  if (code < 0x80) return std::string(1, static_cast<char>(code));
  return {static_cast<char>(0xC0 | (code >> 6)), static_cast<char>(0x80 | (code & 0x3F))};
}

void appendSpelledBytes(std::string_view spelling, std::string& out) {
  for (std::size_t position = 0; position < spelling.size();) {
    const Utf8Char c = readUtf8(spelling, position);
    if (c.status == Utf8Status::kValid && c.code < kShifted && isPrintable(c.code)) {
      out.push_back(static_cast<char>(c.code));
    } else if (c.status == Utf8Status::kValid && c.code >= kShifted && c.code < kShifted + kShiftedCount) {
      out.push_back(static_cast<char>(kShiftedBytes[c.code - kShifted]));
    } else {
      out.append(spelling.substr(position, c.length));
    }
    position += c.length;
  }
}

}  // namespace tandem
