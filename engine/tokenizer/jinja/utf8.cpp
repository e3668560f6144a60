#include "engine/tokenizer/jinja/utf8.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "engine/tokenizer/jinja/special_casing.h"

namespace tandem::jinja::utf8 {
namespace {

constexpr std::uint32_t kEscapedByte = 0xDC00;

bool isContinuation(std::string_view text, std::size_t position) {
  return position < text.size() && (static_cast<unsigned char>(text[position]) & 0xC0) == 0x80;
}

std::uint32_t continuation(std::string_view text, std::size_t position) {
  return static_cast<unsigned char>(text[position]) & 0x3F;
}

utf8proc_category_t category(std::uint32_t code) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code));
}

const SpecialCase* specialCase(std::uint32_t code) {
  const auto* found =
      std::lower_bound(std::begin(kSpecialCases), std::end(kSpecialCases), code,
                       [](const SpecialCase& entry, std::uint32_t c) { return entry.code < c; });
  return found != std::end(kSpecialCases) && found->code == code ? found : nullptr;
}

std::string one(utf8proc_int32_t code) {
  std::string text;
  append(text, static_cast<std::uint32_t>(code));
  return text;
}

}  // namespace

Char decode(std::string_view text, std::size_t position) {
  const auto lead = static_cast<unsigned char>(text[position]);
  if (lead < 0x80) return {lead, 1};
  const Char invalid{kEscapedByte + lead, 1};
  if (lead < 0xC2 || lead > 0xF4 || !isContinuation(text, position + 1)) return invalid;
  const std::uint32_t second = continuation(text, position + 1);
  if (lead < 0xE0) return {(lead & 0x1FU) << 6 | second, 2};
  if (!isContinuation(text, position + 2)) return invalid;
  const std::uint32_t third = continuation(text, position + 2);
  if (lead < 0xF0) {
    const std::uint32_t code = (lead & 0x0FU) << 12 | second << 6 | third;
    const bool wellFormed = code >= 0x800 && (code < 0xD800 || code > 0xDFFF);
    return wellFormed ? Char{code, 3} : invalid;
  }
  if (!isContinuation(text, position + 3)) return invalid;
  const std::uint32_t code =
      (lead & 0x07U) << 18 | second << 12 | third << 6 | continuation(text, position + 3);
  return code >= 0x10000 && code <= 0x10FFFF ? Char{code, 4} : invalid;
}

void append(std::string& out, std::uint32_t code) {
  const auto put = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code >= kEscapedByte + 0x80 && code <= kEscapedByte + 0xFF) {
    put(code - kEscapedByte);
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

std::size_t countChars(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t position = 0; position < text.size(); position += decode(text, position).length)
    ++count;
  return count;
}

std::size_t offsetOf(std::string_view text, std::size_t index) {
  std::size_t position = 0;
  for (; index > 0 && position < text.size(); --index)
    position += decode(text, position).length;
  return position;
}

bool isSpace(std::uint32_t code) {
  if (code < 0x80) return code == ' ' || (code >= 0x09 && code <= 0x0D) || (code >= 0x1C && code <= 0x1F);
  return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) ||
         code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

bool isLineBreak(std::uint32_t code) {
  return (code >= 0x0A && code <= 0x0D) || (code >= 0x1C && code <= 0x1E) || code == 0x85 || code == 0x2028 ||
         code == 0x2029;
}

bool isAlpha(std::uint32_t code) {
  const utf8proc_category_t c = category(code);
  return c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LO;
}

bool isDecimal(std::uint32_t code) {
  return category(code) == UTF8PROC_CATEGORY_ND;
}

bool isDigit(std::uint32_t code) {
  // Superscripts and the circled and parenthesised digits are digits without being decimal.
  return isDecimal(code) || code == 0xB2 || code == 0xB3 || code == 0xB9 || code == 0x2070 ||
         (code >= 0x2074 && code <= 0x2079) || (code >= 0x2080 && code <= 0x2089) ||
         (code >= 0x2460 && code <= 0x2468) || (code >= 0x2474 && code <= 0x247C) ||
         (code >= 0x2488 && code <= 0x2490);
}

bool isNumeric(std::uint32_t code) {
  const utf8proc_category_t c = category(code);
  return c == UTF8PROC_CATEGORY_ND || c == UTF8PROC_CATEGORY_NL || c == UTF8PROC_CATEGORY_NO;
}

bool isPrintable(std::uint32_t code) {
  if (code == ' ') return true;
  switch (category(code)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS:
      return false;
    default:
      return true;
  }
}

bool isUpper(std::uint32_t code) {
  return category(code) == UTF8PROC_CATEGORY_LU;
}
bool isTitle(std::uint32_t code) {
  return category(code) == UTF8PROC_CATEGORY_LT;
}
bool isLower(std::uint32_t code) {
  // Ordinal indicators count as lower case although they are "other letters".
  return category(code) == UTF8PROC_CATEGORY_LL || code == 0xAA || code == 0xBA;
}

bool isCaseIgnorable(std::uint32_t code) {
  switch (category(code)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return code == '\'' || code == '.' || code == ':' || code == 0xB7 || code == 0x2018 || code == 0x2019;
  }
}

bool isIdentifier(std::uint32_t code) {
  if (code < 0x80) return code == '_' || isAlnum(code);
  const utf8proc_category_t c = category(code);
  return isAlnum(code) || c == UTF8PROC_CATEGORY_MN || c == UTF8PROC_CATEGORY_MC || c == UTF8PROC_CATEGORY_PC;
}

std::string upper(std::uint32_t code) {
  if (const SpecialCase* special = specialCase(code)) return special->upper;
  return one(utf8proc_toupper(static_cast<utf8proc_int32_t>(code)));
}

std::string lower(std::uint32_t code) {
  if (code == 0x130) return "i\u0307";
  return one(utf8proc_tolower(static_cast<utf8proc_int32_t>(code)));
}

std::string title(std::uint32_t code) {
  if (const SpecialCase* special = specialCase(code)) return special->title;
  return one(utf8proc_totitle(static_cast<utf8proc_int32_t>(code)));
}

}  // namespace tandem::jinja::utf8
