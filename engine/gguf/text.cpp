#include "engine/gguf/text.h"

#include <cstddef>

namespace tandem::gguf {
namespace {

constexpr std::size_t kShownBytes = 80;

unsigned char byteAt(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

bool isContinuation(std::string_view text, std::size_t i) {
  return (byteAt(text, i) & 0xC0) == 0x80;
}

// Bytes of the well-formed character that starts at `i`, or 0 when there is none.
std::size_t characterLength(std::string_view text, std::size_t i) {
  const unsigned char lead = byteAt(text, i);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() - i < length) return 0;
  for (std::size_t k = 1; k < length; ++k) {
    if (!isContinuation(text, i + k)) return 0;
  }
  const unsigned char second = byteAt(text, i + 1);
  if (lead == 0xE0 && second < 0xA0) return 0;  // overlong
  if (lead == 0xED && second > 0x9F) return 0;  // surrogate
  if (lead == 0xF0 && second < 0x90) return 0;  // overlong
  if (lead == 0xF4 && second > 0x8F) return 0;  // above U+10FFFF
  return length;
}

}  // namespace

bool isUtf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = characterLength(text, i);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

std::string shown(std::string_view name) {
  std::size_t end = name.size();
  if (end > kShownBytes) {
    end = kShownBytes;
    while (end > 0 && isContinuation(name, end))
      --end;
  }
  std::string text(name.substr(0, end));
  const bool utf8 = isUtf8(text);
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || (byte >= 0x80 && !utf8)) c = '?';
  }
  if (end < name.size()) text += "…";
  return text;
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > 3; i -= 3)
    digits.insert(i - 3, 1, ',');
  return digits;
}

std::string bytesText(std::uint64_t count) {
  return grouped(count) + (count == 1 ? " byte" : " bytes");
}

}  // namespace tandem::gguf
