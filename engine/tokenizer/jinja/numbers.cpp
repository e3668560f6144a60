#include "engine/tokenizer/jinja/numbers.h"

#include <charconv>
#include <cmath>

#include "engine/tokenizer/jinja/text_ops.h"

namespace tandem::jinja {
namespace {

// Without the white space around it, and without the underscores between digits; nothing when an underscore
// stands anywhere else.
std::optional<std::string> cleaned(std::string_view text) {
  const ByteRange range = stripRange(text, nullptr, Side::kBoth);
  text = text.substr(range.begin, range.end - range.begin);
  const auto isDigit = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out += text[i];
    } else if (i == 0 || i + 1 == text.size() || !isDigit(text[i - 1]) || !isDigit(text[i + 1])) {
      return std::nullopt;
    }
  }
  return out;
}

// The base that a prefix like 0x names, or 0.
int prefixBase(std::string_view digits) {
  if (digits.size() < 2 || digits[0] != '0') return 0;
  switch (digits[1]) {
    case 'x':
    case 'X':
      return 16;
    case 'o':
    case 'O':
      return 8;
    case 'b':
    case 'B':
      return 2;
    default:
      return 0;
  }
}

[[noreturn]] void failRange() {
  fail(FailureKind::kRuntime, "an integer does not fit in 64 bits");
}

}  // namespace

std::optional<std::int64_t> parseInteger(std::string_view text, int base) {
  const std::optional<std::string> clean = cleaned(text);
  if (!clean || clean->empty()) return std::nullopt;
  std::string_view digits = *clean;
  const bool negative = digits.front() == '-';
  if (negative || digits.front() == '+') digits.remove_prefix(1);
  const int prefix = prefixBase(digits);
  if (prefix != 0 && (base == prefix || base == 0)) {
    digits.remove_prefix(2);
    base = prefix;
  }
  if (base == 0) {
    if (digits.size() > 1 && digits[0] == '0' && digits.find_first_not_of('0') != std::string_view::npos)
      return std::nullopt;
    base = 10;
  }
  if (digits.empty() || digits.front() == '-' || digits.front() == '+') return std::nullopt;
  const std::string signedText = (negative ? "-" : "") + std::string(digits);
  std::int64_t number = 0;
  const auto [end, error] =
      std::from_chars(signedText.data(), signedText.data() + signedText.size(), number, base);
  if (end != signedText.data() + signedText.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) failRange();
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

std::optional<double> parseFloat(std::string_view text) {
  const std::optional<std::string> clean = cleaned(text);
  if (!clean || clean->empty()) return std::nullopt;
  std::string_view digits = *clean;
  const bool negative = digits.front() == '-';
  if (negative || digits.front() == '+') digits.remove_prefix(1);
  if (digits.empty() || digits.front() == '-' || digits.find('(') != std::string_view::npos)
    return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (end != digits.data() + digits.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    // Too large is infinite, too small is zero; the exponent's sign tells which.
    const bool small =
        digits.find("e-") != std::string_view::npos || digits.find("E-") != std::string_view::npos;
    number = small ? 0.0 : HUGE_VAL;
  } else if (error != std::errc()) {
    return std::nullopt;
  }
  return negative ? -number : number;
}

std::int64_t truncate(const Value& value) {
  if (value.isIntegral()) return value.asIntegral();
  const double number = value.asFloat();
  if (!(number >= -0x1p63 && number < 0x1p63)) failRange();
  return static_cast<std::int64_t>(number);
}

Value roundNumber(const Value& value, std::int64_t digits) {
  const bool origin = value.fromTemplate();
  if (digits < -18 && value.isIntegral()) return Value::integer(0, origin);
  if (value.isIntegral()) {
    std::int64_t unit = 1;
    for (std::int64_t i = digits; i < 0; ++i)
      unit *= 10;
    const std::int64_t number = value.asIntegral();
    const std::int64_t rest = ((number % unit) + unit) % unit;
    const std::int64_t down = number - rest;
    const bool up = rest > unit - rest || (rest == unit - rest && (down / unit) % 2 != 0);
    std::int64_t rounded = down;
    if (up && __builtin_add_overflow(down, unit, &rounded)) failRange();
    return Value::integer(rounded, origin);
  }
  const double number = value.asFloat();
  if (!std::isfinite(number) || digits > 323) return value;
  if (digits < -308) return Value::real(std::copysign(0.0, number), origin);
  if (digits < 0) {
    const long double unit = std::pow(10.0L, static_cast<long double>(-digits));
    return Value::real(static_cast<double>(std::nearbyint(static_cast<long double>(number) / unit) * unit),
                       origin);
  }
  // Written with that many decimals and read back: both steps round correctly, so this does too.
  char buffer[700];
  const auto written = std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::fixed,
                                     static_cast<int>(digits));
  double rounded = number;
  std::from_chars(buffer, written.ptr, rounded);
  return Value::real(rounded, origin);
}

}  // namespace tandem::jinja
