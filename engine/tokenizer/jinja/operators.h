// Python's operators on template values. Integers are 64 bits wide; a result that does not fit is an error.
//
// Origin: joining, repeating and slicing keep the origin of every byte; a number computed from numbers is the
// template's only when all of them are.
#pragma once

#include "engine/tokenizer/jinja/runtime.h"

namespace tandem::jinja {

enum class Arithmetic { kAdd, kSubtract, kMultiply, kDivide, kFloorDivide, kModulo, kPower };
Value arithmetic(Runtime& runtime, Arithmetic op, const Value& left, const Value& right);
Value negate(const Value& value);
Value positive(const Value& value);

enum class Comparison { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual, kIn, kNotIn };
bool compare(Runtime& runtime, Comparison op, const Value& left, const Value& right);

// left < right, failing for types that have no order.
bool lessThan(Runtime& runtime, const Value& left, const Value& right);
// item in container.
bool contains(Runtime& runtime, const Value& container, const Value& item);

// value[start:stop:step]; each bound may be none.
Value slice(Runtime& runtime, const Value& value, const Value& start, const Value& stop, const Value& step);
// value[index] of Python, without the fallback to attributes; missing where Python has no such element.
Value subscript(Runtime& runtime, const Value& value, const Value& index);

}  // namespace tandem::jinja
