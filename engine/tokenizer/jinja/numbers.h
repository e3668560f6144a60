// Numbers from other values: Python's int() and float().
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/tokenizer/jinja/value.h"

namespace tandem::jinja {

// int(text, base) and float(text); nothing when the text is not such a number.
// int fails when the number does not fit in 64 bits.
std::optional<std::int64_t> parseInteger(std::string_view text, int base);
std::optional<double> parseFloat(std::string_view text);

// int(number): the part before the point. Fails when it does not fit in 64 bits, and for NaN.
// REQUIRES: value.isNumber()
std::int64_t truncate(const Value& value);

// round(number, digits).
Value roundNumber(const Value& value, std::int64_t digits);

}  // namespace tandem::jinja
