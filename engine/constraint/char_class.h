// What stands for a set of characters in regular expressions and grammars: [a-z], \d, \n, \u00e9.
#pragma once

#include "engine/constraint/char_set.h"
#include "engine/constraint/source_reader.h"

namespace tandem::constraint {

// The set of \d \D \w \W \s \S. Digits and word characters are those of ASCII, white space is Unicode's, as
// in ECMA-262. REQUIRES: isClassEscape(c)
CharSet classEscape(char32_t c);
bool isClassEscape(char32_t c);

// Reads what stands behind a backslash and means one character: n t r f v 0 xHH uHHHH u{H…} UHHHHHHHH cX, or
// a punctuation mark itself. Two \u escapes that are a pair of surrogates are one character.
char32_t readCharEscape(SourceReader& in);

// Reads a class behind its opening bracket, the closing one included.
CharSet readCharClass(SourceReader& in);

}  // namespace tandem::constraint
