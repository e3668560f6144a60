#include "engine/tokenizer/utf8.h"

#include <cassert>

namespace tandem {

namespace {

// What a lead byte asks for: how many bytes, and the range of the second one (table 3-7).
struct Lead {
  std::uint8_t length;  // 0: not a lead byte
  std::uint8_t secondLow;
  std::uint8_t secondHigh;
  std::uint8_t bits;  // the lead's own payload
};

Lead readLead(std::uint8_t byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {2, 0x80, 0xBF, static_cast<std::uint8_t>(byte & 0x1F)};
  if (byte >= 0xE0 && byte <= 0xEF) {
    const std::uint8_t low = byte == 0xE0 ? 0xA0 : 0x80;   // below: overlong
    const std::uint8_t high = byte == 0xED ? 0x9F : 0xBF;  // above: surrogates
    return {3, low, high, static_cast<std::uint8_t>(byte & 0x0F)};
  }
  if (byte >= 0xF0 && byte <= 0xF4) {
    const std::uint8_t low = byte == 0xF0 ? 0x90 : 0x80;   // below: overlong
    const std::uint8_t high = byte == 0xF4 ? 0x8F : 0xBF;  // above: past U+10FFFF
    return {4, low, high, static_cast<std::uint8_t>(byte & 0x07)};
  }
  return {0, 0, 0, 0};
}

constexpr char32_t kReplacement = 0xFFFD;

}  // namespace

Utf8Char readUtf8(std::string_view text, std::size_t position) {
  assert(position < text.size());
  const auto byteAt = [&](std::size_t i) { return static_cast<std::uint8_t>(text[position + i]); };
  const std::uint8_t first = byteAt(0);
  if (first < 0x80) return {first, 1, Utf8Status::kValid};
  const Lead lead = readLead(first);
  if (lead.length == 0) return {kReplacement, 1, Utf8Status::kInvalid};

  char32_t code = lead.bits;
  for (std::uint8_t i = 1; i < lead.length; ++i) {
    if (position + i == text.size()) return {kReplacement, i, Utf8Status::kIncomplete};
    const std::uint8_t low = i == 1 ? lead.secondLow : 0x80;
    const std::uint8_t high = i == 1 ? lead.secondHigh : 0xBF;
    if (byteAt(i) < low || byteAt(i) > high) return {kReplacement, i, Utf8Status::kInvalid};
    code = (code << 6) | (byteAt(i) & 0x3F);
  }
  return {code, lead.length, Utf8Status::kValid};
}

}  // namespace tandem
