// How a template fails: the kinds of failure, and the exception that carries one inside this folder.
//
// The interpreter recurses through parsing, evaluation, filters and iterators; a failure anywhere ends the
// whole render. FailureException is thrown for that inside this folder only, and caught in template.cpp, so
// no caller outside ever sees it. std::bad_alloc is turned into a budget failure in the same place.
#pragma once

#include <string>
#include <utility>

namespace tandem::jinja {

enum class FailureKind {
  kSyntax,     // the template cannot be parsed, or names an unknown filter, test or tag
  kUndefined,  // an undefined value was used for something other than printing, testing or looping
  kSecurity,   // an attribute that the sandbox keeps away was used
  kRaised,     // the template called raise_exception; the message is the template's own
  kRuntime,    // wrong type, wrong value, division by zero, integer overflow and the like
  kBudget,     // steps, output, nesting or memory ran out
};

struct Failure {
  FailureKind kind = FailureKind::kRuntime;
  std::string message;  // without the line; for kRaised exactly the template's text
  int line = 0;         // line of the template, 1-based; 0 when it is not known
};

struct FailureException {
  Failure failure;
};

[[noreturn]] inline void fail(FailureKind kind, std::string message, int line = 0) {
  throw FailureException{{kind, std::move(message), line}};
}

}  // namespace tandem::jinja
