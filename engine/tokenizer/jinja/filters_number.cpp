// Filters on numbers, and the one place that knows all filter tables.
#include <cmath>

#include "engine/tokenizer/jinja/builtins.h"
#include "engine/tokenizer/jinja/iteration.h"
#include "engine/tokenizer/jinja/numbers.h"
#include "engine/tokenizer/jinja/operators.h"

namespace tandem::jinja {
namespace {

bool isAllTemplate(const Value& text) {
  return text.asString().text.isAllTemplate(0, text.asString().text.size());
}

void refuseUndefined(const Value& value) {
  if (value.isUndefined()) value.as<Undefined>().raise();
}

Value intFilter(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> given = bind("int", arguments, {"default", "base"});
  const Value fallback = given[0].isMissing() ? Value::integer(0, true) : given[0];
  refuseUndefined(self);
  if (self.isString()) {
    const std::string_view text = self.asString().view();
    runtime.budget.spendScan(text.size());
    const std::int64_t base = integerOr(given[1], 10, "base");
    if (base != 0 && (base < 2 || base > 36)) return fallback;
    const bool origin = isAllTemplate(self);
    if (const auto number = parseInteger(text, static_cast<int>(base)))
      return Value::integer(*number, origin);
    const auto real = parseFloat(text);
    return real && std::isfinite(*real) ? Value::integer(truncate(Value::real(*real)), origin) : fallback;
  }
  if (!self.isNumber() || (self.is(Kind::kFloat) && std::isnan(self.asFloat()))) return fallback;
  if (self.is(Kind::kFloat) && std::isinf(self.asFloat()))
    failType("cannot convert float infinity to integer");
  return Value::integer(truncate(self), self.fromTemplate());
}

Value floatFilter(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> given = bind("float", arguments, {"default"});
  const Value fallback = given[0].isMissing() ? Value::real(0, true) : given[0];
  refuseUndefined(self);
  if (self.isString()) {
    runtime.budget.spendScan(self.asString().text.size());
    const auto real = parseFloat(self.asString().view());
    return real ? Value::real(*real, isAllTemplate(self)) : fallback;
  }
  if (self.isIntegral()) return Value::real(static_cast<double>(self.asIntegral()), self.fromTemplate());
  return self.is(Kind::kFloat) ? self : fallback;
}

Value absFilter(Runtime&, const Value& self, const Arguments& arguments) {
  bind("abs", arguments, {});
  if (!self.isNumber()) failType(std::string("bad operand type for abs(): '") + typeName(self) + "'");
  if (self.is(Kind::kFloat)) return Value::real(std::fabs(self.asFloat()), self.fromTemplate());
  return self.asIntegral() < 0 ? negate(self) : positive(self);
}

Value roundFilter(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> given = bind("round", arguments, {"precision", "method"});
  const std::string_view method = given[1].isString()    ? given[1].asString().view()
                                  : given[1].isMissing() ? "common"
                                                         : "";
  if (method != "common" && method != "ceil" && method != "floor")
    failType("method must be common, ceil or floor");
  if (method != "common") refuseUndefined(self);
  if (!self.isNumber()) failType(std::string("round needs a number, not '") + typeName(self) + "'");
  const std::int64_t precision = integerOr(given[0], 0, "precision");
  if (method == "common") return roundNumber(self, precision);
  const Value unit =
      arithmetic(runtime, Arithmetic::kPower, Value::integer(10, true), Value::integer(precision, true));
  const Value scaled = arithmetic(runtime, Arithmetic::kMultiply, self, unit);
  Value whole = scaled;
  if (scaled.is(Kind::kFloat)) {
    const double rounded = method == "ceil" ? std::ceil(scaled.asFloat()) : std::floor(scaled.asFloat());
    whole = Value::integer(truncate(Value::real(rounded)), scaled.fromTemplate());
  }
  return arithmetic(runtime, Arithmetic::kDivide, whole, unit);
}

}  // namespace

NativeCall findNumberFilter(std::string_view name) {
  if (name == "int") return intFilter;
  if (name == "float") return floatFilter;
  if (name == "abs") return absFilter;
  return name == "round" ? roundFilter : nullptr;
}

NativeCall findFilter(std::string_view name) {
  for (const auto find : {findTextFilter, findSequenceFilter, findSelectionFilter, findNumberFilter}) {
    if (const NativeCall filter = find(name)) return filter;
  }
  return nullptr;
}

}  // namespace tandem::jinja
