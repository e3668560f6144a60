// The values of JSON Schema's `format` that are enforced, as regular expressions over whole strings.
#pragma once

#include <string>
#include <string_view>

namespace tandem::constraint {

enum class FormatKind {
  kEnforced,    // regex tells which strings have the form
  kNotHandled,  // one that JSON Schema defines and this program does not know
  kUnknown,     // a name of somebody's own: an annotation
};

// `regex` is set when the format is enforced.
FormatKind findFormat(std::string_view name, std::string& regex);

}  // namespace tandem::constraint
