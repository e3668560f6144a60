// Reads a template into a Program whose variables are still unresolved (see scope.h).
#pragma once

#include <memory>
#include <string_view>

#include "engine/tokenizer/jinja/ast.h"

namespace tandem::jinja {

// Fails with kSyntax for what Jinja would refuse to parse and for tags that chat templates do not have
// (block, extends, include, import, recursive loops), and with kBudget for a source that is too long or
// nested too deeply.
std::unique_ptr<Program> parseTemplate(std::string_view source);

}  // namespace tandem::jinja
