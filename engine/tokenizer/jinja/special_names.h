// Which of a macro's special variables its body uses.
#pragma once

#include <set>
#include <string>

#include "engine/tokenizer/jinja/ast.h"

namespace tandem::jinja {

// Those of caller, kwargs and varargs that `body` uses without having assigned them before, in macros inside
// it too.
std::set<std::string, std::less<>> usedSpecialNames(const Block& body);

}  // namespace tandem::jinja
