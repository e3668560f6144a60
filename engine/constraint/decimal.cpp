#include "engine/constraint/decimal.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "engine/constraint/json_parts.h"

namespace tandem::constraint {
namespace {

// How often a digit may follow, as a regular expression.
std::string times(std::size_t min, std::size_t max) {
  return "{" + std::to_string(min) + "," + std::to_string(max) + "}";
}

std::string digits(char first, char last) {
  return std::string("[") + first + "-" + last + "]";
}

void addBranch(std::string& regex, const std::string& branch) {
  regex += (regex.empty() ? "" : "|") + branch;
}

// Whole numbers above or below another one of the same length.
std::string sameLength(const std::string& whole, bool above) {
  std::string regex;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const char least = i == 0 && whole.size() > 1 ? '1' : '0';
    const char digit = whole[i];
    if (above ? digit == '9' : digit <= least) continue;
    addBranch(regex, whole.substr(0, i) +
                         (above ? digits(static_cast<char>(digit + 1), '9')
                                : digits(least, static_cast<char>(digit - 1))) +
                         "[0-9]" + times(whole.size() - 1 - i, whole.size() - 1 - i));
  }
  return regex;
}

constexpr std::size_t kMaxWholeDigits = 18;

// Whole numbers above (below) `whole`; empty when there are none.
std::string wholeBeyond(const std::string& whole, bool above) {
  std::string regex = sameLength(whole, above);
  const std::size_t longest = std::max(kMaxWholeDigits, whole.size());
  if (above) {
    if (whole.size() < longest) addBranch(regex, "[1-9][0-9]" + times(whole.size(), longest - 1));
  } else if (whole.size() > 1) {
    addBranch(regex, "0|[1-9][0-9]" + times(0, whole.size() - 2));
  }
  return regex;
}

// Digits behind the point that make a fraction beyond `fraction`, or equal to it unless `strict`. The branch
// of no digits at all is told by `none`.
std::string fractionBeyond(const std::string& fraction, bool above, bool strict, bool& none) {
  std::string regex;
  none = above ? fraction.empty() && !strict : !fraction.empty() || !strict;
  for (std::size_t i = 0; i < fraction.size(); ++i) {
    const char digit = fraction[i];
    if (above ? digit != '9' : digit != '0') {
      addBranch(regex, fraction.substr(0, i) +
                           (above ? digits(static_cast<char>(digit + 1), '9')
                                  : digits('0', static_cast<char>(digit - 1))) +
                           "[0-9]*");
    }
    if (!above && i > 0) addBranch(regex, fraction.substr(0, i));  // its beginning is below it
  }
  if (above) {
    addBranch(regex, fraction + (strict ? "0*[1-9][0-9]*" : fraction.empty() ? "[0-9]+" : "[0-9]*"));
  } else if (!strict) {
    addBranch(regex, fraction + (fraction.empty() ? "0+" : "0*"));
  }
  return regex;
}

// Numbers without a sign, beyond the size of `bound`.
std::string sizeBeyond(const Bound& bound, bool above) {
  std::string regex;
  const std::string whole = wholeBeyond(bound.value.whole, above);
  if (!whole.empty()) addBranch(regex, "(?:" + whole + ")(?:\\.[0-9]+)?");
  bool none = false;
  const std::string fraction = fractionBeyond(bound.value.fraction, above, bound.exclusive, none);
  if (!fraction.empty()) addBranch(regex, bound.value.whole + "\\.(?:" + fraction + ")");
  if (none) addBranch(regex, bound.value.whole);
  return regex;
}

constexpr const char* kAnySize = "(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?";

// Numbers at or above a bound, or at or below it.
std::string beyond(const Bound& bound, bool above) {
  const bool zero = bound.value.isZero();
  const bool negative = zero ? bound.exclusive && !above : bound.value.negative;
  std::string regex;
  if (above == negative) {
    // Across zero: every number of the other sign, and those of this sign that are not as large.
    const std::string inner = sizeBeyond(bound, false);
    if (above) {
      addBranch(regex, kAnySize);
      if (!inner.empty()) addBranch(regex, "-(?:" + inner + ")");
    } else {
      addBranch(regex, std::string("-") + kAnySize);
      if (!inner.empty()) addBranch(regex, inner);
    }
    return regex;
  }
  const std::string outer = sizeBeyond(bound, true);
  if (outer.empty()) return "[]";
  return negative ? "-(?:" + outer + ")" : outer;
}

// Numbers without a sign, of at most `longest` whole digits and of as many digits in all as a double tells
// apart from a bound: beside one of `whole` digits, the most of a bound, a longer number may have more.
std::string fractionsNear(const NumberRange& range, std::size_t whole, std::size_t longest) {
  constexpr std::size_t kExactDigits = 15;
  std::string regex;
  const auto add = [&](const std::string& digits, std::size_t fraction) {
    addBranch(regex, digits + (fraction == 0 ? "" : "(?:\\.[0-9]" + times(1, fraction) + ")?"));
  };
  const std::size_t each = std::min(whole, kExactDigits + 1);  // longer bounds have no fraction
  for (std::size_t size = 1; size <= each; ++size) {
    const std::size_t fraction = kExactDigits - std::min(size, kExactDigits);
    add(size == 1 ? "[0-9]" : "[1-9][0-9]" + times(size - 1, size - 1), fraction);
    for (const std::optional<Bound>& bound :
         {range.low, range.high}) {  // one that has more is written itself
      if (bound && bound->value.whole.size() == size && bound->value.fraction.size() > fraction)
        addBranch(regex, bound->value.whole + "\\." + bound->value.fraction);
    }
  }
  if (each < longest)
    add("[1-9][0-9]" + times(each, longest - 1), kExactDigits - std::min(whole, kExactDigits));
  return regex;
}

}  // namespace

Decimal decimalOf(const nlohmann::ordered_json& value, const std::string& field) {
  std::string text = value.dump();
  Decimal out;
  if (text.front() == '-') {
    out.negative = true;
    text.erase(0, 1);
  }
  long exponent = 0;
  if (const std::size_t e = text.find_first_of("eE"); e != std::string::npos) {
    exponent = std::strtol(text.c_str() + e + 1, nullptr, 10);
    text.erase(e);
  }
  const std::size_t point = text.find('.');
  std::string whole = text.substr(0, point);
  std::string fraction = point == std::string::npos ? "" : text.substr(point + 1);
  if (std::labs(exponent) > 400) refuse("The number is too large or too small.", field);
  for (; exponent > 0; --exponent) {
    whole.push_back(fraction.empty() ? '0' : fraction.front());
    if (!fraction.empty()) fraction.erase(0, 1);
  }
  for (; exponent < 0; ++exponent) {
    fraction.insert(fraction.begin(), whole.empty() ? '0' : whole.back());
    if (!whole.empty()) whole.pop_back();
  }
  whole.erase(0, std::min(whole.find_first_not_of('0'), whole.size()));
  fraction.erase(fraction.find_last_not_of('0') + 1);
  out.whole = whole.empty() ? "0" : whole;
  out.fraction = fraction;
  if (out.isZero()) out.negative = false;
  return out;
}

int compare(const Decimal& a, const Decimal& b) {
  if (a.negative != b.negative) return a.negative ? -1 : 1;
  int size = 0;
  if (a.whole.size() != b.whole.size()) {
    size = a.whole.size() < b.whole.size() ? -1 : 1;
  } else if (a.whole != b.whole) {
    size = a.whole < b.whole ? -1 : 1;
  } else if (a.fraction != b.fraction) {
    size = a.fraction < b.fraction ? -1 : 1;  // without zeros at their ends, fractions sort as texts
  }
  return a.negative ? -size : size;
}

bool NumberRange::contains(const Decimal& value) const {
  if (low && compare(value, low->value) < (low->exclusive ? 1 : 0)) return false;
  return !high || compare(value, high->value) <= (high->exclusive ? -1 : 0);
}

CharDfa rangeDfa(const NumberRange& range, bool integersOnly, Budget& budget) {
  std::size_t whole = 1;
  for (const std::optional<Bound>& bound : {range.low, range.high}) {
    if (bound) whole = std::max(whole, bound->value.whole.size());
  }
  const std::size_t longest = std::max(kMaxWholeDigits, whole);
  const std::string form = integersOnly ? "-?(?:0|[1-9][0-9]" + times(0, longest - 1) + ")"
                                        : "-?(?:" + fractionsNear(range, whole, longest) + ")";
  CharDfa dfa = regexDfa(form, "", Match::kWhole, budget);
  if (range.low) dfa = intersect(dfa, regexDfa(beyond(*range.low, true), "", Match::kWhole, budget), budget);
  if (range.high)
    dfa = intersect(dfa, regexDfa(beyond(*range.high, false), "", Match::kWhole, budget), budget);
  return dfa;
}

CharDfa multiplesDfa(int divisor, Budget& budget) {
  // States: the start, behind the sign, a lone zero, then one for each remainder.
  constexpr int kStart = 0, kSign = 1, kZero = 2, kFirst = 3;
  CharDfa dfa;
  dfa.starts = {0, '-', '-' + 1};
  for (char32_t c = '0'; c <= '9' + 1; ++c)
    dfa.starts.push_back(c);
  const std::size_t classes = dfa.starts.size();
  const auto states = static_cast<std::size_t>(kFirst + divisor);
  if (states >= kMaxCharStates) Budget::overrun("The divisor is too large");
  budget.spend(states * classes);
  dfa.next.assign(states * classes, CharDfa::kDead);
  dfa.accepts.assign(states, 0);
  dfa.accepts[kZero] = dfa.accepts[kFirst] = 1;
  const auto set = [&](int from, char32_t c, int to) {
    dfa.next[static_cast<std::size_t>(from) * classes + static_cast<std::size_t>(dfa.classOf(c))] = to;
  };
  set(kStart, '-', kSign);
  for (int digit = 0; digit <= 9; ++digit) {
    const char32_t c = static_cast<char32_t>('0' + digit);
    for (const int from : {static_cast<int>(kStart), static_cast<int>(kSign)})
      set(from, c, digit == 0 ? kZero : kFirst + digit % divisor);
    for (int rest = 0; rest < divisor; ++rest)
      set(kFirst + rest, c, kFirst + (10 * rest + digit) % divisor);
  }
  return dfa;
}

}  // namespace tandem::constraint
