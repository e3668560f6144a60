#include "engine/tokenizer/jinja/macro.h"

#include <algorithm>

namespace tandem::jinja {

Activation* makeActivation(Runtime& runtime, const FunctionScope& scope, Activation* parent) {
  runtime.budget.spendBytes(scope.slotCount * sizeof(Value));
  auto* activation = runtime.arena.make<Activation>();
  activation->slots.resize(scope.slotCount);
  activation->parent = parent;
  return activation;
}

Value makeMacro(Runtime& runtime, const MacroCode& code, Activation& closure) {
  auto* macro = runtime.arena.make<Macro>();
  macro->code = &code;
  macro->closure = &closure;
  return Value(Kind::kMacro, macro);
}

Value macroAttribute(Runtime& runtime, const Macro& macro, std::string_view name) {
  const MacroCode& code = *macro.code;
  if (name == "name") return code.name.isMissing() ? Value::none() : code.name;
  if (name == "caller") return Value::boolean(code.usesCaller);
  if (name == "catch_kwargs") return Value::boolean(code.usesKeywords);
  if (name == "catch_varargs") return Value::boolean(code.usesVarargs);
  if (name != "arguments") return {};
  std::vector<Value> names;
  for (const MacroCode::Parameter& parameter : code.parameters)
    names.push_back(parameter.name);
  return runtime.arena.tuple(std::move(names));
}

std::string describe(const Macro& macro) {
  if (macro.code->name.isMissing()) return "<Macro anonymous>";
  return "<Macro '" + std::string(macro.code->name.asString().view()) + "'>";
}

void takeArguments(Runtime& runtime, const Macro& macro, Arguments&& arguments, Activation& activation) {
  const MacroCode& code = *macro.code;
  const std::string name = describe(macro);
  const std::size_t taken = std::min(arguments.positional.size(), code.parameters.size());
  for (std::size_t i = 0; i < code.parameters.size(); ++i) {
    const MacroCode::Parameter& parameter = code.parameters[i];
    activation.at(parameter.ref) =
        i < taken ? arguments.positional[i] : arguments.takeKeyword(parameter.name.asString().view());
  }
  if (code.usesCaller) {
    const Value caller = arguments.takeKeyword("caller");
    const bool given = !caller.isMissing() && !caller.isNone();
    activation.at(code.caller) = given ? caller : runtime.undefinedHint("No caller defined");
  }
  if (code.usesKeywords) {
    auto* rest = runtime.arena.make<Dict>();
    for (const auto& [key, value] : arguments.keywords) {
      runtime.budget.spendBytes(sizeof(Dict::Entry));
      rest->set(runtime.budget, key, value);
    }
    activation.at(code.keywords) = Value(rest);
  } else if (!arguments.keywords.empty()) {
    failType(name + " takes no keyword argument '" +
             std::string(arguments.keywords.front().first.asString().view()) + "'");
  }
  if (code.usesVarargs) {
    const auto rest = arguments.positional.begin() + static_cast<std::ptrdiff_t>(taken);
    activation.at(code.varargs) = runtime.arena.tuple({rest, arguments.positional.end()});
  } else if (arguments.positional.size() > code.parameters.size()) {
    failType(name + " takes not more than " + std::to_string(code.parameters.size()) + " argument(s)");
  }
}

}  // namespace tandem::jinja
