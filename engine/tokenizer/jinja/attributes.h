// Reaching into values: what `value.name` and `value[key]` give, and the methods each type has.
//
// There is nothing to reach but this: items of dictionaries and sequences, the attributes and methods listed
// in attributes.cpp and *_methods.cpp. Names that Python's sandbox keeps away (with a leading underscore, or
// methods that change a list or dictionary) give an undefined value whose use is a security failure.
#pragma once

#include <string_view>

#include "engine/tokenizer/jinja/runtime.h"

namespace tandem::jinja {

// value.name: an attribute or method first, then an item. Undefined when there is neither.
// REQUIRES: name.isString()
Value getAttribute(Runtime& runtime, const Value& value, const Value& name);
// value[key]: an item first, then, for a text, an attribute or method.
Value getItem(Runtime& runtime, const Value& value, const Value& key);
// An attribute or method only, for the `attr` filter.
Value getPlainAttribute(Runtime& runtime, const Value& value, const Value& name);

// A method of each type by name, or nullptr.
NativeCall stringMethod(std::string_view name);
NativeCall listMethod(std::string_view name);  // of lists and tuples
NativeCall dictMethod(std::string_view name);
NativeCall numberMethod(std::string_view name);

}  // namespace tandem::jinja
