// From a ConstraintSpec to its Grammar.
#pragma once

#include "engine/constraint/grammar.h"
#include "engine/constraint/spec.h"

namespace tandem::constraint {

// Throws Failure.
Grammar compileGrammar(const ConstraintSpec& spec, const ByteAlphabet& alphabet);

// The part of a request that the spec came from: "json_schema", "regex", …
const char* fieldOf(const ConstraintSpec& spec);

}  // namespace tandem::constraint
