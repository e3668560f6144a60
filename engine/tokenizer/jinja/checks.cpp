// The tests that stand behind `is`.
#include <unordered_map>

#include "engine/tokenizer/jinja/attributes.h"
#include "engine/tokenizer/jinja/builtins.h"
#include "engine/tokenizer/jinja/iteration.h"
#include "engine/tokenizer/jinja/operators.h"
#include "engine/tokenizer/jinja/text.h"

namespace tandem::jinja {
namespace {

// A test of the value alone.
template <bool (*kHolds)(const Value&)>
Value plain(Runtime&, const Value& self, const Arguments& arguments) {
  bind("a test", arguments, {});
  return Value::boolean(kHolds(self));
}

bool isDefined(const Value& v) {
  return !v.isUndefined();
}
bool isUndefined(const Value& v) {
  return v.isUndefined();
}
bool isNone(const Value& v) {
  return v.isNone();
}
bool isBoolean(const Value& v) {
  return v.is(Kind::kBool);
}
bool isTrue(const Value& v) {
  return v.is(Kind::kBool) && v.asBool();
}
bool isFalse(const Value& v) {
  return v.is(Kind::kBool) && !v.asBool();
}
bool isInteger(const Value& v) {
  return v.is(Kind::kInt);
}
bool isFloat(const Value& v) {
  return v.is(Kind::kFloat);
}
bool isNumber(const Value& v) {
  return v.isNumber();
}
bool isString(const Value& v) {
  return v.isString();
}
bool isMapping(const Value& v) {
  return v.is(Kind::kDict);
}
bool isEscaped(const Value& v) {
  return v.isString() && v.asString().markup;
}
// An undefined value passes for an empty one.
bool isSequence(const Value& v) {
  return lengthOf(v).has_value() && !v.is(Kind::kDictView);
}
bool isCallable(const Value& v) {
  return v.is(Kind::kFunction) || v.is(Kind::kMacro) || v.is(Kind::kJoiner) || v.is(Kind::kLoop) ||
         v.isUndefined();
}
bool canIterate(const Value& v) {
  return isIterable(v) || v.is(Kind::kLoop);
}

template <bool kUpper>
Value hasCase(Runtime& runtime, const Value& self, const Arguments& arguments) {
  bind("a test", arguments, {});
  return stringMethod(kUpper ? "isupper" : "islower")(runtime, toString(runtime, self), Arguments());
}

template <Comparison kOp>
Value compareTest(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> given = bind("a comparison", arguments, {"other"}, 1);
  return Value::boolean(compare(runtime, kOp, self, given[0]));
}

Value inTest(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> given = bind("in", arguments, {"seq"}, 1);
  return Value::boolean(contains(runtime, given[0], self));
}

bool remainderIs(Runtime& runtime, const Value& value, const Value& divisor, std::int64_t expected) {
  const Value rest = arithmetic(runtime, Arithmetic::kModulo, value, divisor);
  return equal(runtime.budget, rest, Value::integer(expected));
}

template <bool kOdd>
Value parity(Runtime& runtime, const Value& self, const Arguments& arguments) {
  bind("a test", arguments, {});
  return Value::boolean(remainderIs(runtime, self, Value::integer(2), kOdd ? 1 : 0));
}

Value divisibleBy(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> given = bind("divisibleby", arguments, {"num"}, 1);
  return Value::boolean(remainderIs(runtime, self, given[0], 0));
}

// The same object; for scalars, the same value of the same type.
Value sameAs(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> given = bind("sameas", arguments, {"other"}, 1);
  if (self.kind() != given[0].kind()) return Value::boolean(false);
  const bool scalar = self.isNumber() || self.isNone() || self.isString();
  return Value::boolean(scalar ? equal(runtime.budget, self, given[0]) : self.object() == given[0].object());
}

Value filterExists(Runtime&, const Value& self, const Arguments& arguments) {
  bind("filter", arguments, {});
  return Value::boolean(self.isString() && findFilter(self.asString().view()) != nullptr);
}

Value testExists(Runtime&, const Value& self, const Arguments& arguments) {
  bind("test", arguments, {});
  return Value::boolean(self.isString() && findTest(self.asString().view()) != nullptr);
}

}  // namespace

NativeCall findTest(std::string_view name) {
  static const std::unordered_map<std::string_view, NativeCall> kTests = {
      {"!=", compareTest<Comparison::kNotEqual>},
      {"<", compareTest<Comparison::kLess>},
      {"<=", compareTest<Comparison::kLessEqual>},
      {"==", compareTest<Comparison::kEqual>},
      {">", compareTest<Comparison::kGreater>},
      {">=", compareTest<Comparison::kGreaterEqual>},
      {"boolean", plain<isBoolean>},
      {"callable", plain<isCallable>},
      {"defined", plain<isDefined>},
      {"divisibleby", divisibleBy},
      {"eq", compareTest<Comparison::kEqual>},
      {"equalto", compareTest<Comparison::kEqual>},
      {"escaped", plain<isEscaped>},
      {"even", parity<false>},
      {"false", plain<isFalse>},
      {"filter", filterExists},
      {"float", plain<isFloat>},
      {"ge", compareTest<Comparison::kGreaterEqual>},
      {"greaterthan", compareTest<Comparison::kGreater>},
      {"gt", compareTest<Comparison::kGreater>},
      {"in", inTest},
      {"integer", plain<isInteger>},
      {"iterable", plain<canIterate>},
      {"le", compareTest<Comparison::kLessEqual>},
      {"lessthan", compareTest<Comparison::kLess>},
      {"lower", hasCase<false>},
      {"lt", compareTest<Comparison::kLess>},
      {"mapping", plain<isMapping>},
      {"ne", compareTest<Comparison::kNotEqual>},
      {"none", plain<isNone>},
      {"number", plain<isNumber>},
      {"odd", parity<true>},
      {"sameas", sameAs},
      {"sequence", plain<isSequence>},
      {"string", plain<isString>},
      {"test", testExists},
      {"true", plain<isTrue>},
      {"undefined", plain<isUndefined>},
      {"upper", hasCase<true>},
  };
  const auto found = kTests.find(name);
  return found == kTests.end() ? nullptr : found->second;
}

}  // namespace tandem::jinja
