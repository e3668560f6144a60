// How the compiler of constraints gives up: one exception type that never leaves this folder.
// Constraint::compile catches it and returns its Error.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "engine/base/status.h"

namespace tandem::constraint {

struct Failure {
  Error error;
};

// A constraint that can never work: `message` is a whole sentence, `field` the part of the request or the
// JSON pointer into the schema, `offset` the byte of the regular expression or grammar.
[[noreturn]] inline void refuse(std::string message, std::string field = {},
                                std::optional<std::size_t> offset = {}) {
  Error error{ErrorCode::kInvalidArgument, std::move(message), std::move(field)};
  if (offset) error.offset = *offset;
  throw Failure{std::move(error)};
}

// What compiling may cost, over all parts of one constraint. A unit is about one node, edge or table entry
// that is built or looked at.
class Budget {
 public:
  void spend(std::size_t units) {
    if (units > left_) overrun("It takes too many steps to prepare");
    left_ -= units;
  }
  [[noreturn]] static void overrun(const std::string& what, std::string field = {}) {
    throw Failure{{ErrorCode::kBudgetExceeded, what + "; make it smaller.", std::move(field)}};
  }

 private:
  std::size_t left_ = std::size_t{1} << 24;
};

// Limits of what a constraint may be made of; docs/structured-output.md lists them.
inline constexpr std::size_t kMaxSourceBytes = std::size_t{1}
                                               << 20;  // of a schema, regex, grammar, choice list
inline constexpr int kMaxNesting = 200;                // brackets inside brackets in any source
inline constexpr std::size_t kMaxNfaNodes = 200'000;   // of one regular expression, repeats written out
inline constexpr std::size_t kMaxCharStates = 20'000;
inline constexpr std::size_t kMaxByteStates = 100'000;
inline constexpr std::size_t kMaxGrammarNodes = 400'000;
inline constexpr std::size_t kMaxShortestBytes = 65'536;  // of the shortest text that a constraint allows

}  // namespace tandem::constraint
