// Characters: decoding, classes and case, as Python's str has them.
//
// Strings are UTF-8. A byte that is not part of a well-formed character is a character of its own, numbered
// 0xDC00 + byte and written back as that byte (Python's "surrogateescape"), so no input is ever changed or
// refused for its encoding. Classes and simple case mappings come from utf8proc (Unicode 15); the characters
// whose upper or title case is longer than one character are in special_casing.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tandem::jinja::utf8 {

struct Char {
  std::uint32_t code;
  std::uint32_t length;  // bytes, 1 to 4
};

// REQUIRES: position < text.size()
Char decode(std::string_view text, std::size_t position);
void append(std::string& out, std::uint32_t code);

std::size_t countChars(std::string_view text);
// Byte offset of the character `index`, or text.size() when there are fewer.
std::size_t offsetOf(std::string_view text, std::size_t index);

bool isSpace(std::uint32_t code);      // str.isspace
bool isLineBreak(std::uint32_t code);  // ends a line for str.splitlines
bool isAlpha(std::uint32_t code);
bool isDecimal(std::uint32_t code);
bool isDigit(std::uint32_t code);
bool isNumeric(std::uint32_t code);
bool isPrintable(std::uint32_t code);
bool isUpper(std::uint32_t code);
bool isLower(std::uint32_t code);
bool isTitle(std::uint32_t code);
bool isCaseIgnorable(std::uint32_t code);
bool isIdentifier(std::uint32_t code);  // may stand in a name
inline bool isCased(std::uint32_t code) {
  return isUpper(code) || isLower(code) || isTitle(code);
}
inline bool isAlnum(std::uint32_t code) {
  return isAlpha(code) || isNumeric(code);
}

// Full case mappings of one character, as UTF-8. `lower` takes no account of the final sigma.
std::string upper(std::uint32_t code);
std::string lower(std::uint32_t code);
std::string title(std::uint32_t code);

}  // namespace tandem::jinja::utf8
