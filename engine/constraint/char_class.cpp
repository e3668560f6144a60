#include "engine/constraint/char_class.h"

#include <optional>

namespace tandem::constraint {
namespace {

bool isAsciiLetterOrDigit(char32_t c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

char32_t readUnicodeEscape(SourceReader& in) {
  if (in.take('{')) {
    char32_t value = 0;
    do {
      value = 16 * value + in.hex(1);
      if (value > kMaxCodePoint) in.fail("There is no such character: \\u{…} ends at 10FFFF.");
    } while (!in.take('}'));
    return value;
  }
  const char32_t high = in.hex(4);
  if (high < kFirstSurrogate || high > kLastSurrogate) return high;
  if (high < 0xDC00 && in.take("\\u")) {
    const char32_t low = in.hex(4);
    if (low >= 0xDC00 && low <= kLastSurrogate) return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
  }
  in.fail("Half of a surrogate pair is no character.");
}

// One member of a class: a character, or nothing when it was a whole set, which is added.
std::optional<char32_t> readMember(SourceReader& in, CharSet& set) {
  if (in.atEnd()) in.fail("The class [… has no closing bracket.");
  if (!in.take('\\')) return in.next();
  if (isClassEscape(in.peek())) {
    set.add(classEscape(in.next()));
    return std::nullopt;
  }
  if (in.take('b')) return U'\b';
  return readCharEscape(in);
}

}  // namespace

bool isClassEscape(char32_t c) {
  return c == 'd' || c == 'D' || c == 'w' || c == 'W' || c == 's' || c == 'S';
}

CharSet classEscape(char32_t c) {
  switch (c) {
    case 'd':
      return {{'0', '9'}};
    case 'w':
      return {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
    case 's':
      return {{9, 13},          {' ', ' '},       {0xA0, 0xA0},     {0x1680, 0x1680}, {0x2000, 0x200A},
              {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF}};
    default:
      return classEscape(c + ('a' - 'A')).complement();
  }
}

char32_t readCharEscape(SourceReader& in) {
  if (in.atEnd()) in.fail("A backslash stands at the end.");
  const char32_t c = in.peek();
  if (c >= '1' && c <= '9') in.fail("References to groups (\\1) are not supported.");
  if (c == 'p' || c == 'P') in.fail("Unicode properties (\\p{…}) are not supported.");
  if (c == 'k') in.fail("References to groups (\\k<…>) are not supported.");
  if (c == 'b' || c == 'B') in.fail("Word boundaries (\\b, \\B) are not supported.");
  in.next();
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'f':
      return '\f';
    case 'v':
      return '\v';
    case '0':
      return 0;
    case 'x':
      return in.hex(2);
    case 'u':
      return readUnicodeEscape(in);
    case 'U': {
      const char32_t value = in.hex(8);
      if (value > kMaxCodePoint || (value >= kFirstSurrogate && value <= kLastSurrogate))
        in.fail("There is no such character.");
      return value;
    }
    case 'c': {
      const char32_t letter = in.peek();
      if (!((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z')))
        in.fail("A letter must follow \\c.");
      in.next();
      return letter % 32;
    }
    default:
      if (isAsciiLetterOrDigit(c)) {
        in.rewind(in.position() - 1);
        in.fail("The escape \\" + utf8Of(c) + " is not known.");
      }
      return c;
  }
}

CharSet readCharClass(SourceReader& in) {
  const bool negated = in.take('^');
  CharSet set;
  while (!in.take(']')) {
    const std::optional<char32_t> first = readMember(in, set);
    if (in.peek() != '-' || in.peek(1) == ']' || in.peek(1) == 0) {
      if (first) set.add({*first, *first});
      continue;
    }
    in.next();
    const std::optional<char32_t> last = readMember(in, set);
    if (first && last) {
      if (*first > *last) in.fail("The range in the class runs backwards.");
      set.add({*first, *last});
      continue;
    }
    // A hyphen beside a set such as \d is a hyphen.
    if (first) set.add({*first, *first});
    if (last) set.add({*last, *last});
    set.add({'-', '-'});
  }
  return negated ? set.complement() : set;
}

}  // namespace tandem::constraint
