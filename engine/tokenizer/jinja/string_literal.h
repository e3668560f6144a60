// Escapes in the string literals of a template.
#pragma once

#include <string>
#include <string_view>

namespace tandem::jinja {

// `body` is what stands between the quotes. Python's escapes, \N{...} excepted; an unknown escape stays as it
// is. Fails with kSyntax for an escape that is cut short or names no character.
std::string unescapeString(std::string_view body, int line);

}  // namespace tandem::jinja
