// Filters that apply another filter or a test to every item: map, select, reject, selectattr, rejectattr.
//
// As in Python they are lazy: nothing happens until the result is gone through, not even the check of their
// arguments, and the result can be gone through once.
#include "engine/tokenizer/jinja/attribute_path.h"
#include "engine/tokenizer/jinja/builtins.h"
#include "engine/tokenizer/jinja/iteration.h"

namespace tandem::jinja {
namespace {

using Mapping = std::function<Value(Runtime&, const Value&)>;

// The first positional argument at `index` as a name, and the arguments behind it.
Arguments argumentsAfter(const Arguments& arguments, std::size_t index) {
  Arguments rest;
  rest.positional.assign(arguments.positional.begin() + static_cast<std::ptrdiff_t>(index),
                         arguments.positional.end());
  rest.keywords = arguments.keywords;
  return rest;
}

std::string_view nameOf(const Value& value) {
  if (!value.isString()) failType("the name of a filter or test must be a string");
  return value.asString().view();
}

Mapping mappingOf(Runtime& runtime, Arguments arguments) {
  if (arguments.positional.empty()) {
    const Value attribute = arguments.takeKeyword("attribute");
    if (attribute.isMissing()) failType("map requires a filter argument");
    const Value fallback = arguments.takeKeyword("default");
    if (!arguments.keywords.empty()) failType("map was given an unexpected named argument");
    return [path = AttributePath(runtime, attribute, fallback)](Runtime& rt, const Value& item) {
      return path.of(rt, item);
    };
  }
  const std::string_view name = nameOf(arguments.positional[0]);
  const NativeCall filter = findFilter(name);
  if (!filter) failType("No filter named '" + std::string(name) + "'.");
  return [filter, rest = argumentsAfter(arguments, 1)](Runtime& rt, const Value& item) {
    return filter(rt, item, rest);
  };
}

// Whether an item is selected: by a test, or by its truth when none is named.
Mapping conditionOf(Runtime& runtime, const Arguments& arguments, bool byAttribute) {
  if (byAttribute && arguments.positional.empty()) failType("Missing parameter for attribute name");
  const std::size_t offset = byAttribute ? 1 : 0;
  const AttributePath path(runtime, byAttribute ? arguments.positional[0] : Value());
  if (arguments.positional.size() <= offset)
    return [path](Runtime& rt, const Value& item) { return path.of(rt, item); };
  const std::string_view name = nameOf(arguments.positional[offset]);
  const NativeCall test = findTest(name);
  if (!test) failType("No test named '" + std::string(name) + "'.");
  return [path, test, rest = argumentsAfter(arguments, offset + 1)](Runtime& rt, const Value& item) {
    return test(rt, path.of(rt, item), rest);
  };
}

void spendCopy(Runtime& runtime, const Arguments& arguments) {
  runtime.budget.spendBytes(sizeof(Arguments) + arguments.positional.size() * sizeof(Value));
}

Value map(Runtime& runtime, const Value& self, const Arguments& arguments) {
  spendCopy(runtime, arguments);
  Iterator* source = nullptr;
  return runtime.iterator([=, mapping = Mapping()](Runtime& rt) mutable -> Value {
    if (!truthy(self)) return {};
    if (!source) {
      mapping = mappingOf(rt, arguments);
      source = &iterate(rt, self);
    }
    const Value item = next(rt, *source);
    return item.isMissing() ? item : mapping(rt, item);
  });
}

template <bool kKeep, bool kByAttribute>
Value choose(Runtime& runtime, const Value& self, const Arguments& arguments) {
  spendCopy(runtime, arguments);
  Iterator* source = nullptr;
  return runtime.iterator([=, condition = Mapping()](Runtime& rt) mutable -> Value {
    if (!truthy(self)) return {};
    if (!source) {
      condition = conditionOf(rt, arguments, kByAttribute);
      source = &iterate(rt, self);
    }
    for (Value item = next(rt, *source); !item.isMissing(); item = next(rt, *source)) {
      if (truthy(condition(rt, item)) == kKeep) return item;
    }
    return {};
  });
}

}  // namespace

NativeCall findSelectionFilter(std::string_view name) {
  if (name == "map") return map;
  if (name == "select") return choose<true, false>;
  if (name == "reject") return choose<false, false>;
  if (name == "selectattr") return choose<true, true>;
  return name == "rejectattr" ? choose<false, true> : nullptr;
}

}  // namespace tandem::jinja
