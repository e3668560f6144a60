#include "engine/tokenizer/jinja/runtime.h"

#include <algorithm>

#include "engine/tokenizer/jinja/iteration.h"

namespace tandem::jinja {

Value Runtime::iterator(std::function<Value(Runtime&)> next) {
  auto* object = arena.make<Iterator>();
  object->next = std::move(next);
  return Value(Kind::kIterator, object);
}

Value Runtime::function(std::string_view name, NativeCall call, const Value& self) {
  auto* object = arena.make<Function>();
  object->name = name;
  object->call = call;
  object->self = self;
  return Value(Kind::kFunction, object);
}

Value Runtime::undefinedName(const Value& name) {
  auto* object = arena.make<Undefined>();
  object->name = name;
  return Value(Kind::kUndefined, object);
}

Value Runtime::undefinedMember(const Value& owner, const Value& name, bool unsafe) {
  auto* object = arena.make<Undefined>();
  object->owner = typeName(owner);
  object->name = name;
  object->unsafe = unsafe;
  return Value(Kind::kUndefined, object);
}

Value Runtime::undefinedHint(std::string_view hint) {
  auto* object = arena.make<Undefined>();
  object->hint = hint;
  return Value(Kind::kUndefined, object);
}

std::vector<Value> bind(std::string_view function, const Arguments& arguments,
                        std::initializer_list<std::string_view> parameters, std::size_t required) {
  const std::string name(function);
  if (arguments.positional.size() > parameters.size()) {
    failType(name + " takes at most " + std::to_string(parameters.size()) + " arguments, but was given " +
             std::to_string(arguments.positional.size()));
  }
  std::vector<Value> bound(parameters.size());
  std::copy(arguments.positional.begin(), arguments.positional.end(), bound.begin());
  for (const auto& [key, value] : arguments.keywords) {
    const auto* found = std::find(parameters.begin(), parameters.end(), key.asString().view());
    const std::string keyword(key.asString().view());
    if (found == parameters.end()) failType(name + " has no parameter '" + keyword + "'");
    Value& slot = bound[static_cast<std::size_t>(found - parameters.begin())];
    if (!slot.isMissing()) failType(name + " was given '" + keyword + "' twice");
    slot = value;
  }
  for (std::size_t i = 0; i < required; ++i) {
    if (bound[i].isMissing()) failType(name + " needs '" + std::string(parameters.begin()[i]) + "'");
  }
  return bound;
}

const std::vector<Value>& positionalOnly(std::string_view function, const Arguments& arguments,
                                         std::size_t least, std::size_t most) {
  const std::size_t count = arguments.positional.size();
  if (!arguments.keywords.empty()) failType(std::string(function) + " takes no named arguments");
  if (count < least || count > most) {
    failType(std::string(function) + " cannot be called with " + std::to_string(count) + " arguments");
  }
  return arguments.positional;
}

std::int64_t integerOr(const Value& value, std::int64_t fallback, std::string_view what) {
  if (value.isMissing()) return fallback;
  if (value.isIntegral()) return value.asIntegral();
  failType(std::string(what) + " must be an integer, not '" + typeName(value) + "'");
}

bool truthOr(const Value& value, bool fallback) {
  return value.isMissing() ? fallback : truthy(value);
}

}  // namespace tandem::jinja
