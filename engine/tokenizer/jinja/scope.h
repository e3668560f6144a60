// Decides where every variable of a template lives, before it runs.
//
// Jinja's scoping is lexical and decided by the text, not by the order of execution: a name that is assigned
// anywhere in a frame belongs to that frame for all of it; loops, with, captured blocks, macros and call
// blocks open frames; `if` does not. An inner frame that assigns a name of an outer one starts with a copy of
// it and leaves the outer one alone. Names that nobody assigns come from the context (the request's variables
// and the globals).
#pragma once

#include "engine/tokenizer/jinja/ast.h"

namespace tandem::jinja {

// Fills in every VarRef, Frame and FunctionScope. Fails with kSyntax for an assignment to `loop` in a loop,
// and for filters and tests that do not exist, unless an `if` or inline-if around them may keep them from
// being reached.
void resolveScopes(Program& program);

}  // namespace tandem::jinja
