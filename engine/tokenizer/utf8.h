// Reading UTF-8 one character at a time, strictly: exactly the sequences of the Unicode Standard's table 3-7
// are valid, so overlong forms, surrogates and values above U+10FFFF are not.
//
// Pure functions; any thread may call them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tandem {

enum class Utf8Status : std::uint8_t {
  kValid,       // a whole character
  kInvalid,     // bytes that no continuation could make valid
  kIncomplete,  // the text ends inside a character that is valid so far
};

struct Utf8Char {
  char32_t code;        // the code point when valid, else U+FFFD
  std::uint8_t length;  // bytes taken: the character's, or those of the maximal invalid subpart (1 to 3)
  Utf8Status status;
};

// The character that starts at `position`.
// REQUIRES: position < text.size()
Utf8Char readUtf8(std::string_view text, std::size_t position);

}  // namespace tandem
