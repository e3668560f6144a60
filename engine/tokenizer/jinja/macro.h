// A macro, or the body of a call block, as a value that can be called.
#pragma once

#include <string>
#include <string_view>

#include "engine/tokenizer/jinja/ast.h"
#include "engine/tokenizer/jinja/runtime.h"

namespace tandem::jinja {

// The variables of one running function.
struct Activation : Object {
  std::vector<Value> slots;
  Activation* parent = nullptr;  // of the function whose text this one's stands in

  Value& at(const VarRef& ref) {
    Activation* activation = this;
    for (std::uint32_t i = 0; i < ref.hops; ++i)
      activation = activation->parent;
    return activation->slots[ref.slot];
  }
};

Activation* makeActivation(Runtime& runtime, const FunctionScope& scope, Activation* parent);

struct Macro : Object {
  const MacroCode* code = nullptr;
  Activation* closure = nullptr;
};

Value makeMacro(Runtime& runtime, const MacroCode& code, Activation& closure);

// macro.NAME, or missing.
Value macroAttribute(Runtime& runtime, const Macro& macro, std::string_view name);
std::string describe(const Macro& macro);

// Puts a call's arguments into the slots of `activation`, as Jinja's macros take them; parameters that were
// not given stay missing. Fails for too many arguments and unknown names.
void takeArguments(Runtime& runtime, const Macro& macro, Arguments&& arguments, Activation& activation);

}  // namespace tandem::jinja
