#include "engine/tokenizer/jinja/string_literal.h"

#include <cstdint>

#include "engine/tokenizer/jinja/failure.h"
#include "engine/tokenizer/jinja/utf8.h"

namespace tandem::jinja {
namespace {

int digitValue(char c, int base) {
  int value = 99;
  if (c >= '0' && c <= '9') value = c - '0';
  if (c >= 'a' && c <= 'f') value = c - 'a' + 10;
  if (c >= 'A' && c <= 'F') value = c - 'A' + 10;
  return value < base ? value : -1;
}

char simpleEscape(char c) {
  switch (c) {
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    case '\\':
    case '\'':
    case '"':
      return c;
    default:
      return '\0';
  }
}

// Reads exactly `count` hexadecimal digits at `position` and moves past them.
std::uint32_t readHex(std::string_view body, std::size_t& position, int count, int line) {
  std::uint32_t code = 0;
  for (int i = 0; i < count; ++i) {
    const int digit = position < body.size() ? digitValue(body[position], 16) : -1;
    if (digit < 0) fail(FailureKind::kSyntax, "a character escape in a string is cut short", line);
    code = code * 16 + static_cast<std::uint32_t>(digit);
    ++position;
  }
  if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
    fail(FailureKind::kSyntax, "a character escape in a string names no character", line);
  }
  return code;
}

}  // namespace

std::string unescapeString(std::string_view body, int line) {
  std::string out;
  for (std::size_t i = 0; i < body.size();) {
    if (body[i] != '\\' || i + 1 == body.size()) {
      out += body[i++];
      continue;
    }
    const char c = body[i + 1];
    i += 2;
    if (const char simple = simpleEscape(c)) {
      out += simple;
    } else if (c == '\n') {
      continue;  // a line end that is escaped is left out
    } else if (c == 'x' || c == 'u' || c == 'U') {
      utf8::append(out, readHex(body, i, c == 'x' ? 2 : c == 'u' ? 4 : 8, line));
    } else if (digitValue(c, 8) >= 0) {
      auto code = static_cast<std::uint32_t>(digitValue(c, 8));
      for (int more = 0; more < 2 && i < body.size() && digitValue(body[i], 8) >= 0; ++more, ++i) {
        code = code * 8 + static_cast<std::uint32_t>(digitValue(body[i], 8));
      }
      utf8::append(out, code);
    } else if (c == 'N') {
      fail(FailureKind::kSyntax, "characters by name (\\N) are not supported in strings", line);
    } else {
      out += '\\';
      out += c;
    }
  }
  return out;
}

}  // namespace tandem::jinja
