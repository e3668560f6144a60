// Going over the parts of an expression.
#pragma once

#include <functional>

#include "engine/tokenizer/jinja/ast.h"

namespace tandem::jinja {

// Calls `visit` for the direct children of `expr`, left to right.
void forChildren(const Expr& expr, const std::function<void(Expr*)>& visit);

}  // namespace tandem::jinja
