#include "engine/tokenizer/jinja/operators.h"

#include <algorithm>
#include <cmath>

#include "engine/tokenizer/jinja/format.h"
#include "engine/tokenizer/jinja/iteration.h"
#include "engine/tokenizer/jinja/text.h"

namespace tandem::jinja {
namespace {

[[noreturn]] void failOperands(std::string_view op, const Value& left, const Value& right) {
  failType("unsupported operand types for " + std::string(op) + ": '" + typeName(left) + "' and '" +
           typeName(right) + "'");
}

[[noreturn]] void failOverflow() {
  failType("the result of an integer operation does not fit in 64 bits");
}
[[noreturn]] void failZero() {
  failType("division by zero");
}

void refuseUndefined(const Value& value) {
  if (value.isUndefined()) value.as<Undefined>().raise();
}

double toDouble(const Value& value) {
  return value.isIntegral() ? static_cast<double>(value.asIntegral()) : value.asFloat();
}

const char* symbolOf(Arithmetic op) {
  constexpr const char* kSymbols[] = {"+", "-", "*", "/", "//", "%", "**"};
  return kSymbols[static_cast<std::size_t>(op)];
}

std::int64_t floorDivide(std::int64_t a, std::int64_t b) {
  if (b == 0) failZero();
  if (b == -1) {
    std::int64_t negated = 0;
    if (__builtin_sub_overflow(std::int64_t{0}, a, &negated)) failOverflow();
    return negated;
  }
  const std::int64_t quotient = a / b;
  return a % b != 0 && (a % b < 0) != (b < 0) ? quotient - 1 : quotient;
}

std::int64_t modulo(std::int64_t a, std::int64_t b) {
  if (b == 0) failZero();
  if (b == -1) return 0;
  const std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

std::int64_t power(std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  while (exponent > 0) {
    if (exponent & 1 && __builtin_mul_overflow(result, base, &result)) failOverflow();
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) failOverflow();
  }
  return result;
}

double floatModulo(double a, double b) {
  if (b == 0) failZero();
  const double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

double floatPower(double base, double exponent) {
  if (base == 0 && exponent < 0) failZero();
  const double result = std::pow(base, exponent);
  if (std::isnan(result) && !std::isnan(base) && !std::isnan(exponent))
    failType("the result is not a real number");
  if (std::isinf(result) && std::isfinite(base) && std::isfinite(exponent))
    failType("the result is too large");
  return result;
}

Value integerArithmetic(Arithmetic op, std::int64_t a, std::int64_t b, bool fromTemplate) {
  std::int64_t result = 0;
  switch (op) {
    case Arithmetic::kAdd:
      if (__builtin_add_overflow(a, b, &result)) failOverflow();
      break;
    case Arithmetic::kSubtract:
      if (__builtin_sub_overflow(a, b, &result)) failOverflow();
      break;
    case Arithmetic::kMultiply:
      if (__builtin_mul_overflow(a, b, &result)) failOverflow();
      break;
    case Arithmetic::kDivide:
      if (b == 0) failZero();
      return Value::real(static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b)),
                         fromTemplate);
    case Arithmetic::kFloorDivide:
      result = floorDivide(a, b);
      break;
    case Arithmetic::kModulo:
      result = modulo(a, b);
      break;
    case Arithmetic::kPower:
      if (b < 0) return Value::real(floatPower(static_cast<double>(a), static_cast<double>(b)), fromTemplate);
      result = power(a, b);
      break;
  }
  return Value::integer(result, fromTemplate);
}

Value floatArithmetic(Arithmetic op, double a, double b, bool fromTemplate) {
  double result = 0;
  switch (op) {
    case Arithmetic::kAdd:
      result = a + b;
      break;
    case Arithmetic::kSubtract:
      result = a - b;
      break;
    case Arithmetic::kMultiply:
      result = a * b;
      break;
    case Arithmetic::kDivide:
      if (b == 0) failZero();
      result = a / b;
      break;
    case Arithmetic::kFloorDivide: {
      const double rest = floatModulo(a, b);
      result = std::round((a - rest) / b);
      break;
    }
    case Arithmetic::kModulo:
      result = floatModulo(a, b);
      break;
    case Arithmetic::kPower:
      result = floatPower(a, b);
      break;
  }
  return Value::real(result, fromTemplate);
}

Value concatenate(Runtime& runtime, const Value& left, const Value& right) {
  if (left.isString() && right.isString()) {
    const bool markup = left.asString().markup || right.asString().markup;
    const Value a = markup ? toMarkup(runtime, left) : left;
    const Value b = markup ? toMarkup(runtime, right) : right;
    runtime.budget.spendBytes(costOf(a.asString().text));
    TaggedText joined = a.asString().text;
    joined.append(b.asString().text);
    return runtime.text(std::move(joined), markup);
  }
  if (left.isSequence() && left.kind() == right.kind()) {
    std::vector<Value> items = collect(runtime, left);
    const std::vector<Value> more = collect(runtime, right);
    items.insert(items.end(), more.begin(), more.end());
    return left.is(Kind::kList) ? runtime.arena.list(std::move(items))
                                : runtime.arena.tuple(std::move(items));
  }
  failOperands("+", left, right);
}

Value repeat(Runtime& runtime, const Value& value, std::int64_t times) {
  const auto count = static_cast<std::uint64_t>(std::max<std::int64_t>(times, 0));
  const std::uint64_t unit =
      value.isString() ? costOf(value.asString().text) : value.asSequence().items.size() * sizeof(Value);
  // Charged before anything is built; the product may not fit in 64 bits.
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(count, unit, &bytes)) bytes = UINT64_MAX;
  runtime.budget.spendBytes(bytes);
  if (value.isString()) {
    // By doubling, so that a million copies of one byte are not a million steps.
    TaggedText out;
    TaggedText power = value.asString().text;
    for (std::uint64_t left = unit > 0 ? count : 0; left > 0; left >>= 1) {
      if (left & 1) out.append(power);
      if (left > 1) power.append(power);
    }
    return runtime.text(std::move(out), value.asString().markup);
  }
  std::vector<Value> items;
  const std::vector<Value>& one = value.asSequence().items;
  for (std::uint64_t i = 0; unit > 0 && i < count; ++i)
    items.insert(items.end(), one.begin(), one.end());
  return value.is(Kind::kList) ? runtime.arena.list(std::move(items)) : runtime.arena.tuple(std::move(items));
}

bool isRepeatable(const Value& value) {
  return value.isString() || value.isSequence();
}

bool lessSequences(Runtime& runtime, const Value& left, const Value& right) {
  const DepthGuard guard(runtime.budget, kValueDepth);
  const std::vector<Value>& a = left.asSequence().items;
  const std::vector<Value>& b = right.asSequence().items;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (!equal(runtime.budget, a[i], b[i])) return lessThan(runtime, a[i], b[i]);
  }
  return a.size() < b.size();
}

}  // namespace

Value arithmetic(Runtime& runtime, Arithmetic op, const Value& left, const Value& right) {
  // A format string takes any right side, also one that is not there.
  if (op == Arithmetic::kModulo && left.isString()) return percentFormat(runtime, left.asString(), right);
  refuseUndefined(left);
  refuseUndefined(right);
  const bool fromTemplate = left.fromTemplate() && right.fromTemplate();
  if (left.isIntegral() && right.isIntegral()) {
    return integerArithmetic(op, left.asIntegral(), right.asIntegral(), fromTemplate);
  }
  if (left.isNumber() && right.isNumber()) {
    return floatArithmetic(op, toDouble(left), toDouble(right), fromTemplate);
  }
  if (op == Arithmetic::kAdd) return concatenate(runtime, left, right);
  if (op == Arithmetic::kMultiply) {
    if (isRepeatable(left) && right.isIntegral()) return repeat(runtime, left, right.asIntegral());
    if (isRepeatable(right) && left.isIntegral()) return repeat(runtime, right, left.asIntegral());
  }
  failOperands(symbolOf(op), left, right);
}

Value negate(const Value& value) {
  refuseUndefined(value);
  if (value.is(Kind::kFloat)) return Value::real(-value.asFloat(), value.fromTemplate());
  if (!value.isIntegral()) failType(std::string("bad operand type for unary -: '") + typeName(value) + "'");
  return integerArithmetic(Arithmetic::kSubtract, 0, value.asIntegral(), value.fromTemplate());
}

Value positive(const Value& value) {
  refuseUndefined(value);
  if (value.is(Kind::kFloat)) return value;
  if (!value.isIntegral()) failType(std::string("bad operand type for unary +: '") + typeName(value) + "'");
  return Value::integer(value.asIntegral(), value.fromTemplate());
}

bool lessThan(Runtime& runtime, const Value& left, const Value& right) {
  runtime.budget.spend(1);
  refuseUndefined(left);
  refuseUndefined(right);
  if (left.isIntegral() && right.isIntegral()) return left.asIntegral() < right.asIntegral();
  if (left.isNumber() && right.isNumber()) {
    const auto wide = [](const Value& v) {
      return v.isIntegral() ? static_cast<long double>(v.asIntegral())
                            : static_cast<long double>(v.asFloat());
    };
    return wide(left) < wide(right);
  }
  if (left.isString() && right.isString()) {
    runtime.budget.spendScan(std::min(left.asString().text.size(), right.asString().text.size()));
    return left.asString().view() < right.asString().view();
  }
  if (left.isSequence() && left.kind() == right.kind()) return lessSequences(runtime, left, right);
  failOperands("<", left, right);
}

bool contains(Runtime& runtime, const Value& container, const Value& item) {
  if (container.isString()) {
    if (!item.isString())
      failType(std::string("'in' needs a string on its left, not '") + typeName(item) + "'");
    runtime.budget.spendScan(container.asString().text.size());
    return container.asString().view().find(item.asString().view()) != std::string_view::npos;
  }
  if (container.is(Kind::kDict)) return container.asDict().find(runtime.budget, item) != nullptr;
  Iterator& iterator = iterate(runtime, container);
  for (Value other = next(runtime, iterator); !other.isMissing(); other = next(runtime, iterator)) {
    if (equal(runtime.budget, other, item)) return true;
  }
  return false;
}

bool compare(Runtime& runtime, Comparison op, const Value& left, const Value& right) {
  // With a NaN neither side is less; for all else "not less" is "greater or equal".
  const auto isNan = [](const Value& v) { return v.is(Kind::kFloat) && std::isnan(v.asFloat()); };
  const bool unordered = (isNan(left) || isNan(right)) && left.isNumber() && right.isNumber();
  switch (op) {
    case Comparison::kEqual:
      return equal(runtime.budget, left, right);
    case Comparison::kNotEqual:
      return !equal(runtime.budget, left, right);
    case Comparison::kLess:
      return lessThan(runtime, left, right);
    case Comparison::kGreater:
      return lessThan(runtime, right, left);
    case Comparison::kLessEqual:
      return !lessThan(runtime, right, left) && !unordered;
    case Comparison::kGreaterEqual:
      return !lessThan(runtime, left, right) && !unordered;
    case Comparison::kIn:
      return contains(runtime, right, left);
    case Comparison::kNotIn:
      return !contains(runtime, right, left);
  }
  return false;
}

}  // namespace tandem::jinja
