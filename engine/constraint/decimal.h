// Numbers of a JSON schema, exactly as they are written, and the texts of numbers between two of them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "engine/constraint/char_dfa.h"

namespace tandem::constraint {

// A decimal number without an exponent: digits before and behind the point, without needless zeros.
struct Decimal {
  bool negative = false;
  std::string whole = "0";
  std::string fraction = {};

  bool isZero() const { return whole == "0" && fraction.empty(); }
};

// REQUIRES: value is a number. Refuses numbers of more than 400 digits, naming `field`.
Decimal decimalOf(const nlohmann::ordered_json& value, const std::string& field);

// Below 0 when a < b, 0 when they are equal, above 0 when a > b.
int compare(const Decimal& a, const Decimal& b);

struct Bound {
  Decimal value;
  bool exclusive = false;
};

struct NumberRange {
  std::optional<Bound> low;
  std::optional<Bound> high;

  bool bounded() const { return low || high; }
  bool contains(const Decimal& value) const;
};

// The numbers in the range, written without exponents.
CharDfa rangeDfa(const NumberRange& range, bool integersOnly, Budget& budget);
// The multiples of `divisor`, as integers. REQUIRES: divisor > 0
CharDfa multiplesDfa(int divisor, Budget& budget);

}  // namespace tandem::constraint
