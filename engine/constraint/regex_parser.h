// Regular expressions in the syntax of ECMA-262: the part that describes regular languages.
//
// Characters, classes, escapes, `.`, groups (also (?:…) and named ones), `|`, the quantifiers ? * + {m} {m,}
// {m,n} with their lazy forms, which match the same texts, and ^ and $ for the ends of the whole text.
// Refused by name: references to groups, lookahead and lookbehind, \b, \B, \p{…}, inline flags.
#pragma once

#include <string>
#include <string_view>

#include "engine/constraint/expression.h"

namespace tandem::constraint {

// Returns the place of the expression in the pool. `field` is named in refusals.
int parseRegex(std::string_view text, const std::string& field, ExpressionPool& pool);

}  // namespace tandem::constraint
