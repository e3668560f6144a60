#include "engine/tokenizer/byte_escape.h"

#include <cstddef>

namespace tandem {

namespace {

// U+FDD0 + n is EF B7 90+n in UTF-8.
constexpr std::string_view kMark = "\xEF\xB7";
constexpr std::uint8_t kDigit = 0x90;
constexpr std::size_t kCharBytes = 3;
constexpr std::size_t kEscapeBytes = 2 * kCharBytes;

std::uint8_t byteAt(std::string_view text, std::size_t i) {
  return static_cast<std::uint8_t>(text[i]);
}

// Whether `text`, of at most kEscapeBytes, is the beginning of an escaped byte, or a whole one.
bool beginsEscape(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t part = i % kCharBytes;
    const bool fits = part < kMark.size() ? text[i] == kMark[part] : (byteAt(text, i) & 0xF0) == kDigit;
    if (!fits) return false;
  }
  return true;
}

void appendEscaped(std::uint8_t byte, std::string& out) {
  for (const int digit : {byte >> 4, byte & 0x0F}) {
    out.append(kMark).push_back(static_cast<char>(kDigit | digit));
  }
}

}  // namespace

ByteEscape::ByteEscape(const std::bitset<256>& missing) : missing_(missing) {
  bool writable = true;
  for (const char c : kMark)
    writable = writable && !missing[static_cast<std::uint8_t>(c)];
  for (unsigned digit = 0; digit < 16; ++digit)
    writable = writable && !missing[kDigit + digit];
  active_ = missing.any() && writable;
}

std::string ByteEscape::escape(std::string_view text) const {
  if (!active_) return std::string(text);
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool isOwnChar = i + kCharBytes <= text.size() && beginsEscape(text.substr(i, kCharBytes));
    if (isOwnChar || missing_[byteAt(text, i)]) {
      appendEscaped(byteAt(text, i), out);
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

void ByteEscape::unescape(std::string& pending, std::string& out, bool last) const {
  std::size_t i = 0;
  if (!active_) {
    out.append(pending);
    i = pending.size();
  }
  while (i < pending.size()) {
    const std::string_view next = std::string_view(pending).substr(i, kEscapeBytes);
    const bool fits = beginsEscape(next);
    if (fits && next.size() == kEscapeBytes) {
      out.push_back(static_cast<char>((next[2] & 0x0F) << 4 | (next[5] & 0x0F)));
      i += kEscapeBytes;
    } else if (fits && !last) {
      break;
    } else {
      out.push_back(pending[i++]);
    }
  }
  pending.erase(0, i);
}

}  // namespace tandem
