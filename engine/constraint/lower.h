// From expressions to grammar nodes: what is regular becomes an automaton, the rest keeps its structure.
#pragma once

#include <vector>

#include "engine/constraint/expression.h"
#include "engine/constraint/grammar_builder.h"

namespace tandem::constraint {

// The rules of a grammar, each an expression of the pool; recursion is allowed, left recursion is refused
// later. Returns the node of `root`.
int lowerRules(const ExpressionPool& pool, const std::vector<int>& rules, int root, GrammarBuilder& builder);

}  // namespace tandem::constraint
