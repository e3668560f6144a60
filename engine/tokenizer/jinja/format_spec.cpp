#include "engine/tokenizer/jinja/format_spec.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "engine/tokenizer/jinja/text.h"
#include "engine/tokenizer/jinja/text_ops.h"
#include "engine/tokenizer/jinja/utf8.h"

namespace tandem::jinja {
namespace {

constexpr std::int64_t kMaxPrecision = 1000;
constexpr std::int64_t kMaxWidth = 1'000'000'000;

std::int64_t readNumber(std::string_view text, std::size_t& position) {
  std::int64_t number = 0;
  while (position < text.size() && text[position] >= '0' && text[position] <= '9') {
    number = std::min(number * 10 + (text[position++] - '0'), kMaxWidth);
  }
  return number;
}

bool isAlign(char c) {
  return c == '<' || c == '>' || c == '^' || c == '=';
}

std::string upperCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

std::string fixedOrScientific(double magnitude, std::chars_format format, int precision) {
  std::string buffer(400 + static_cast<std::size_t>(precision), '\0');
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), magnitude, format, precision).ptr;
  buffer.resize(static_cast<std::size_t>(end - buffer.data()));
  return buffer;
}

// %g: the shorter of both forms, without trailing zeros unless `keepZeros`.
std::string general(double magnitude, std::int64_t precision, bool keepZeros) {
  const int digits = static_cast<int>(std::max<std::int64_t>(precision, 1));
  std::string text = fixedOrScientific(magnitude, std::chars_format::scientific, digits - 1);
  const std::size_t e = text.find('e');
  int exponent = 0;
  std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), text.data() + text.size(), exponent);
  std::string tail;
  if (exponent < -4 || exponent >= digits) {
    tail = text.substr(e);
    text.resize(e);
  } else {
    text = fixedOrScientific(magnitude, std::chars_format::fixed, digits - 1 - exponent);
  }
  if (!keepZeros && text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text + tail;
}

std::string floatDigits(double magnitude, const FormatSpec& spec) {
  if (std::isnan(magnitude)) return "nan";
  if (std::isinf(magnitude)) return "inf";
  const auto precision = static_cast<int>(spec.precision < 0 ? 6 : spec.precision);
  switch (spec.type) {
    case 'e':
    case 'E':
      return fixedOrScientific(magnitude, std::chars_format::scientific, precision);
    case 'f':
    case 'F':
      return fixedOrScientific(magnitude, std::chars_format::fixed, precision);
    case '%':
      return fixedOrScientific(magnitude * 100, std::chars_format::fixed, precision) + "%";
    case '\0':
      if (spec.precision < 0) return formatFloat(magnitude);
      [[fallthrough]];
    case 'g':
    case 'G':
      return general(magnitude, precision, spec.alternate);
    default:
      failType(std::string("unknown format code '") + spec.type + "' for a float");
  }
}

std::string integerDigits(std::uint64_t magnitude, const FormatSpec& spec) {
  const int base = spec.type == 'x' || spec.type == 'X' ? 16
                   : spec.type == 'o'                   ? 8
                   : spec.type == 'b'                   ? 2
                                                        : 10;
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, magnitude, base).ptr;
  std::string digits(buffer, end);
  if (!spec.alternate || base == 10) return digits;
  return std::string("0") + (base == 16 ? "x" : base == 8 ? "o" : "b") + digits;
}

std::string grouped(const std::string& digits, char separator) {
  const std::size_t whole = std::min(digits.find_first_not_of("0123456789"), digits.size());
  std::string out;
  for (std::size_t i = 0; i < whole; ++i) {
    if (i > 0 && (whole - i) % 3 == 0) out += separator;
    out += digits[i];
  }
  return out + digits.substr(whole);
}

bool isFloatType(char type) {
  return std::string_view("eEfFgG%").find(type) != std::string_view::npos;
}

}  // namespace

FormatSpec parseFormatSpec(std::string_view text) {
  FormatSpec spec;
  std::size_t i = 0;
  if (!text.empty()) {
    const std::size_t fillLength = utf8::decode(text, 0).length;
    if (fillLength < text.size() && isAlign(text[fillLength])) {
      spec.fill = text.substr(0, fillLength);
      spec.align = text[fillLength];
      i = fillLength + 1;
    } else if (isAlign(text[0])) {
      spec.align = text[i++];
    }
  }
  const auto at = [&](char c) { return i < text.size() && text[i] == c; };
  if (at('+') || at('-') || at(' ')) spec.sign = text[i++];
  if (at('#')) spec.alternate = text[i++] == '#';
  if (at('0')) spec.zero = text[i++] == '0';
  spec.width = readNumber(text, i);
  if (at(',') || at('_')) spec.grouping = text[i++];
  if (at('.')) {
    const std::size_t start = ++i;
    spec.precision = readNumber(text, i);
    if (i == start) failType("format specifier is missing its precision");
  }
  if (i < text.size()) spec.type = text[i++];
  if (i < text.size()) failType("invalid format specifier");
  return spec;
}

std::string formatNumber(const Value& value, const FormatSpec& spec) {
  if (spec.precision > kMaxPrecision) failType("the precision of a format is too large");
  const bool asFloat = value.is(Kind::kFloat) || isFloatType(spec.type);
  std::string digits;
  bool negative = false;
  if (asFloat) {
    const double number = value.is(Kind::kFloat) ? value.asFloat() : static_cast<double>(value.asIntegral());
    negative = std::signbit(number) && !std::isnan(number);
    digits = floatDigits(std::fabs(number), spec);
  } else {
    const std::int64_t number = value.asIntegral();
    negative = number < 0;
    digits = integerDigits(
        negative ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number), spec);
  }
  if (spec.grouping != '\0') digits = grouped(digits, spec.grouping);
  if (spec.type == 'X' || spec.type == 'E' || spec.type == 'G' || spec.type == 'F')
    digits = upperCase(digits);
  if (negative) return "-" + digits;
  return spec.sign == '-' ? digits : spec.sign + digits;
}

TaggedText padField(Runtime& runtime, const TaggedText& text, const FormatSpec& spec, bool numeric) {
  char align = spec.align;
  TaggedText fill(spec.fill, false);
  if (spec.zero && align == '\0' && numeric) {
    align = '=';
    fill = TaggedText("0", false);
  }
  if (align == '\0') align = numeric ? '>' : '<';
  const std::size_t length = utf8::countChars(text.text());
  if (align == '=') {
    const bool hasSign =
        !text.empty() && std::string_view("+- ").find(text.text()[0]) != std::string_view::npos;
    TaggedText out = text.substr(0, hasSign ? 1 : 0);
    const std::int64_t rest = spec.width - (hasSign ? 1 : 0);
    out.append(pad(runtime.budget, text.substr(out.size()), length - out.size(), rest, fill, Align::kRight));
    return out;
  }
  if (align == '^' && spec.width > static_cast<std::int64_t>(length)) {
    // A format field puts the odd one to the right.
    const auto left =
        static_cast<std::int64_t>(length) + (spec.width - static_cast<std::int64_t>(length)) / 2;
    const TaggedText half = pad(runtime.budget, text, length, left, fill, Align::kRight);
    return pad(runtime.budget, half, static_cast<std::size_t>(left), spec.width, fill, Align::kLeft);
  }
  return pad(runtime.budget, text, length, spec.width, fill, align == '>' ? Align::kRight : Align::kLeft);
}

TaggedText formatValue(Runtime& runtime, const Value& value, const FormatSpec& spec) {
  if (value.is(Kind::kBool) && spec.type == '\0')
    return padField(runtime, toText(runtime, value), spec, false);
  if (value.isNumber()) {
    return padField(runtime, TaggedText(formatNumber(value, spec), value.fromTemplate()), spec, true);
  }
  if (spec.type != '\0' && spec.type != 's') failType("a text can only be formatted as text");
  TaggedText text = toText(runtime, value);
  if (spec.precision >= 0) {
    text = text.substr(0, utf8::offsetOf(text.text(), static_cast<std::size_t>(spec.precision)));
  }
  return padField(runtime, text, spec, false);
}

}  // namespace tandem::jinja
