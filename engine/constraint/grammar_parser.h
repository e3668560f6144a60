// Grammars in the notation of GBNF: `name ::= expression`, with "texts", [classes], ( … ), |, ?, *, +, {m,n},
// a dot for any character, and # comments. The answer matches the rule `root`.
//
// A rule's expression goes on over line ends inside parentheses, behind `::=`, behind `|`, and where a line
// begins with `|`.
#pragma once

#include <string_view>
#include <vector>

#include "engine/constraint/expression.h"

namespace tandem::constraint {

struct ParsedGrammar {
  ExpressionPool pool;
  std::vector<int> rules;  // expressions
  int root = 0;            // of `rules`
};

ParsedGrammar parseGrammar(std::string_view text);

}  // namespace tandem::constraint
