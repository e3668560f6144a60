// Structured output: which tokens an answer may go on with so that it ends as a request asked.
//
// A Constraint is compiled once from a ConstraintSpec for a vocabulary; it is immutable and may be shared
// between threads. A Matcher stands at a place in a text that the constraint allows. It is a small value:
// copy it to walk down a drafted path, and the copy left behind is as if nothing had been drafted. All copies
// of one matcher share what they learn, so they are used by one thread at a time; Constraint::start gives
// independent ones.
//
// Everything here counts in tokens. Where the text may end, end tokens are allowed; where it may do nothing
// else, only they are. A text that is allowed so far can always be brought to an end.
#pragma once

#include <memory>

#include "engine/base/status.h"
#include "engine/constraint/spec.h"
#include "engine/constraint/token_mask.h"
#include "engine/constraint/token_trie.h"

namespace tandem {

namespace constraint {
class Machine;
class Program;
}  // namespace constraint

class Matcher {
 public:
  // The tokens that may come next. Valid until any copy of this matcher is asked again.
  const TokenMask& mask() const;
  // Those of them behind which the text can still end with all in all `tokensLeft` tokens, end token
  // included. Never empty while tokensLeft >= shortestToEnd().
  const TokenMask& mask(int tokensLeft) const;
  // Whether mask(tokensLeft) has the token; much cheaper than making the mask.
  bool allows(TokenId token, int tokensLeft) const;

  // Goes on with a token; false, and the matcher unchanged, where it may not follow. An end token ends the
  // text: nothing may follow it.
  bool advance(TokenId token);

  // Whether the text may end here.
  bool canEnd() const;
  // The fewest tokens to an end by the shortest text, the end token included: at least 1 before the end, 0
  // behind the end token.
  int shortestToEnd() const;
  // Ok when `maxTokens` more tokens, the end token included, are enough; else kInvalidArgument that names how
  // many it takes, or status().
  Status checkLength(int maxTokens) const;
  // Whether no token may follow: behind the end token, or when status() is an error.
  bool atDeadEnd() const;

  // kBudgetExceeded when following the text took too many states; no token is allowed then.
  const Status& status() const;

  // Whether two copies of one matcher stand at the same place.
  bool operator==(const Matcher& other) const { return machine_ == other.machine_ && state_ == other.state_; }

 private:
  friend class Constraint;
  static constexpr int kEnded = -2;
  explicit Matcher(std::shared_ptr<constraint::Machine> machine, std::shared_ptr<const TokenTrie> vocabulary,
                   int state)
      : machine_(std::move(machine)), vocabulary_(std::move(vocabulary)), state_(state) {}

  std::shared_ptr<constraint::Machine> machine_;
  std::shared_ptr<const TokenTrie> vocabulary_;
  int state_;
};

class Constraint {
 public:
  // REQUIRES: spec.kind is not kNone.
  // Errors: kInvalidArgument (`field` names the part of the spec or the JSON pointer into the schema,
  // `offset` the byte of a regular expression or grammar; also what no text can meet), kUnsupported (a
  // keyword that changes what is valid and is not known, or a vocabulary that cannot write such text),
  // kBudgetExceeded.
  static Result<std::shared_ptr<const Constraint>> compile(const ConstraintSpec& spec,
                                                           std::shared_ptr<const TokenTrie> vocabulary);

  // At the beginning of a text.
  Matcher start() const;

 private:
  Constraint(std::shared_ptr<const constraint::Program> program, std::shared_ptr<const TokenTrie> vocabulary)
      : program_(std::move(program)), vocabulary_(std::move(vocabulary)) {}

  std::shared_ptr<const constraint::Program> program_;
  std::shared_ptr<const TokenTrie> vocabulary_;
};

}  // namespace tandem
