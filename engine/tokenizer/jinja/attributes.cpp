#include "engine/tokenizer/jinja/attributes.h"

#include <algorithm>
#include <array>

#include "engine/tokenizer/jinja/loop.h"
#include "engine/tokenizer/jinja/macro.h"
#include "engine/tokenizer/jinja/operators.h"

namespace tandem::jinja {
namespace {

template <std::size_t N>
bool isOneOf(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Python has these on every object; none of them exists here.
bool isInternalName(std::string_view name) {
  return name.size() > 4 && name.substr(0, 2) == "__" && name.substr(name.size() - 2) == "__";
}

// Methods that would change a list or dictionary.
bool isMutator(const Value& value, std::string_view name) {
  constexpr std::array<std::string_view, 8> kList = {"append", "clear", "pop",    "reverse",
                                                     "insert", "sort",  "extend", "remove"};
  constexpr std::array<std::string_view, 5> kDict = {"clear", "pop", "popitem", "setdefault", "update"};
  return (value.is(Kind::kList) && isOneOf(name, kList)) || (value.is(Kind::kDict) && isOneOf(name, kDict));
}

Value cyclerNext(Runtime& runtime, const Value& self, const Arguments& arguments) {
  positionalOnly("cycler.next", arguments, 0, 0);
  Cycler& cycler = self.asMutable<Cycler>();
  runtime.budget.spend(1);
  const Value item = cycler.items[cycler.position];
  cycler.position = (cycler.position + 1) % cycler.items.size();
  return item;
}

Value cyclerReset(Runtime&, const Value& self, const Arguments& arguments) {
  positionalOnly("cycler.reset", arguments, 0, 0);
  self.asMutable<Cycler>().position = 0;
  return Value::none();
}

Value cyclerAttribute(Runtime& runtime, const Value& value, std::string_view name) {
  const auto& cycler = value.as<Cycler>();
  if (name == "next") return runtime.function("next", cyclerNext, value);
  if (name == "reset") return runtime.function("reset", cyclerReset, value);
  if (name == "current") return cycler.items[cycler.position];
  return {};
}

Value numberAttribute(const Value& value, std::string_view name) {
  if (name == "real")
    return value.is(Kind::kFloat) ? value : Value::integer(value.asIntegral(), value.fromTemplate());
  if (name == "imag") {
    return value.is(Kind::kFloat) ? Value::real(0.0, value.fromTemplate())
                                  : Value::integer(0, value.fromTemplate());
  }
  if (name == "numerator" && value.isIntegral())
    return Value::integer(value.asIntegral(), value.fromTemplate());
  if (name == "denominator" && value.isIntegral()) return Value::integer(1, value.fromTemplate());
  return {};
}

Value sequenceAttribute(const Value& value, std::string_view name) {
  const Sequence& sequence = value.asSequence();
  if (!sequence.isGroup) return {};
  if (name == "grouper") return sequence.items[0];
  return name == "list" ? sequence.items[1] : Value();
}

// A method or attribute of the value's type; missing when there is none.
Value typeAttribute(Runtime& runtime, const Value& value, std::string_view name) {
  NativeCall method = nullptr;
  switch (value.kind()) {
    case Kind::kString:
      method = stringMethod(name);
      break;
    case Kind::kList:
      method = listMethod(name);
      break;
    case Kind::kTuple: {
      const Value found = sequenceAttribute(value, name);
      if (!found.isMissing()) return found;
      if (name == "count" || name == "index") method = listMethod(name);
      break;
    }
    case Kind::kDict:
      method = dictMethod(name);
      break;
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kFloat: {
      const Value found = numberAttribute(value, name);
      if (!found.isMissing()) return found;
      if (value.is(Kind::kFloat) == (name == "is_integer")) method = numberMethod(name);
      break;
    }
    case Kind::kNamespace: {
      const Value* found = value.as<Namespace>().attributes.find(name);
      return found ? *found : Value();
    }
    case Kind::kLoop:
      return loopAttribute(runtime, value, name);
    case Kind::kMacro:
      return macroAttribute(runtime, value.as<Macro>(), name);
    case Kind::kCycler:
      return cyclerAttribute(runtime, value, name);
    default:
      break;
  }
  return method ? runtime.function(name, method, value) : Value();
}

// An attribute that may be used, an unsafe one as its undefined value, or missing.
Value findAttribute(Runtime& runtime, const Value& value, const Value& name) {
  const std::string_view text = name.asString().view();
  if (value.isUndefined()) value.as<Undefined>().raise();
  if (isInternalName(text)) return runtime.undefinedMember(value, name, true);
  if (isMutator(value, text)) return runtime.undefinedMember(value, name, true);
  const Value found = typeAttribute(runtime, value, text);
  if (!found.isMissing() && text.starts_with('_')) return runtime.undefinedMember(value, name, true);
  return found;
}

}  // namespace

Value getAttribute(Runtime& runtime, const Value& value, const Value& name) {
  const Value found = findAttribute(runtime, value, name);
  if (!found.isMissing()) return found;
  const Value item = subscript(runtime, value, name);
  return item.isMissing() ? runtime.undefinedMember(value, name) : item;
}

Value getItem(Runtime& runtime, const Value& value, const Value& key) {
  if (value.isUndefined()) value.as<Undefined>().raise();
  const Value item = subscript(runtime, value, key);
  if (!item.isMissing()) return item;
  if (key.isString()) {
    const Value found = findAttribute(runtime, value, key);
    if (!found.isMissing()) return found;
  }
  return runtime.undefinedMember(value, key);
}

Value getPlainAttribute(Runtime& runtime, const Value& value, const Value& name) {
  const Value found = findAttribute(runtime, value, name);
  return found.isMissing() ? runtime.undefinedMember(value, name) : found;
}

}  // namespace tandem::jinja
