#include "engine/constraint/source_reader.h"

#include "engine/tokenizer/utf8.h"

namespace tandem::constraint {
namespace {

int hexValue(char32_t c) {
  if (c >= '0' && c <= '9') return static_cast<int>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<int>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<int>(c - 'A') + 10;
  return -1;
}

}  // namespace

std::vector<char32_t> codePoints(std::string_view text, const std::string& field) {
  std::vector<char32_t> chars;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Char c = readUtf8(text, at);
    if (c.status != Utf8Status::kValid) refuse("The text is not valid UTF-8.", field, at);
    chars.push_back(c.code);
    at += c.length;
  }
  return chars;
}

std::string utf8Of(char32_t c) {
  std::string out;
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(static_cast<unsigned char>(byte))); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6);
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3F));
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  }
  return out;
}

SourceReader::SourceReader(std::string_view text, std::string field) : field_(std::move(field)) {
  if (text.size() > kMaxSourceBytes) Budget::overrun("The text is longer than 1 MiB", field_);
  chars_ = codePoints(text, field_);
}

bool SourceReader::take(std::string_view ascii) {
  for (std::size_t i = 0; i < ascii.size(); ++i) {
    if (peek(i) != static_cast<unsigned char>(ascii[i])) return false;
  }
  position_ += ascii.size();
  return true;
}

std::optional<int> SourceReader::number() {
  if (peek() < '0' || peek() > '9') return std::nullopt;
  int value = 0;
  for (int digits = 0; peek() >= '0' && peek() <= '9'; ++digits) {
    if (digits == 9) fail("The number is too large.");
    value = 10 * value + static_cast<int>(next() - '0');
  }
  return value;
}

char32_t SourceReader::hex(int digits) {
  char32_t value = 0;
  for (int i = 0; i < digits; ++i) {
    const int digit = atEnd() ? -1 : hexValue(peek());
    if (digit < 0) fail("Here " + std::to_string(digits) + " hexadecimal digits must follow.");
    value = 16 * value + static_cast<char32_t>(digit);
    next();
  }
  return value;
}

void SourceReader::fail(const std::string& message) const {
  std::size_t offset = 0;
  for (std::size_t i = 0; i < position_; ++i)
    offset += utf8Of(chars_[i]).size();
  refuse(message, field_, offset);
}

}  // namespace tandem::constraint
