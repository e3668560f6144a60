#include "engine/constraint/constraint.h"

#include <new>

#include "engine/constraint/compile.h"
#include "engine/constraint/machine.h"

namespace tandem {

using constraint::Machine;

const TokenMask& Matcher::mask() const {
  static const TokenMask kNothing;
  return atDeadEnd() ? kNothing : machine_->mask(state_);
}

const TokenMask& Matcher::mask(int tokensLeft) const {
  static const TokenMask kNothing;
  return atDeadEnd() || tokensLeft < 1 ? kNothing : machine_->mask(state_, tokensLeft);
}

bool Matcher::allows(TokenId token, int tokensLeft) const {
  if (state_ < 0 || tokensLeft < 1) return false;
  if (vocabulary_->isEndToken(token)) return machine_->mayEnd(state_);
  const int behind = machine_->advanceToken(state_, token);
  return behind != Machine::kDead && machine_->endsWithin(behind, tokensLeft - 1);
}

bool Matcher::advance(TokenId token) {
  if (state_ < 0) return false;
  if (vocabulary_->isEndToken(token)) {
    if (!machine_->mayEnd(state_)) return false;
    state_ = kEnded;
    return true;
  }
  const int behind = machine_->advanceToken(state_, token);
  if (behind == Machine::kDead) return false;
  state_ = behind;
  return true;
}

bool Matcher::canEnd() const {
  return state_ >= 0 && machine_->mayEnd(state_);
}

int Matcher::shortestToEnd() const {
  return state_ < 0 ? 0 : machine_->tokensToEnd(state_);
}

bool Matcher::atDeadEnd() const {
  return state_ < 0 || !machine_->status().ok();
}

const Status& Matcher::status() const {
  return machine_->status();
}

Result<std::shared_ptr<const Constraint>> Constraint::compile(const ConstraintSpec& spec,
                                                              std::shared_ptr<const TokenTrie> vocabulary) {
  if (vocabulary->endTokens().empty()) {
    return Error{ErrorCode::kUnsupported,
                 "This model has no end token, so it could not end an answer of a given form.", "constraint"};
  }
  try {
    constraint::ByteAlphabet alphabet{vocabulary->singleBytes(), vocabulary->escapesBytes()};
    auto program =
        std::make_shared<const constraint::Program>(constraint::compileGrammar(spec, alphabet), vocabulary);
    return std::shared_ptr<const Constraint>(new Constraint(std::move(program), std::move(vocabulary)));
  } catch (constraint::Failure& failure) {
    if (failure.error.field.empty()) failure.error.field = constraint::fieldOf(spec);
    return std::move(failure.error);
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kOutOfMemory, "There is not enough memory to prepare this form of answer.",
                 constraint::fieldOf(spec)};
  }
}

Matcher Constraint::start() const {
  auto machine = std::make_shared<Machine>(program_);
  const int state = machine->start();
  return Matcher(std::move(machine), vocabulary_, state);
}

Status Matcher::checkLength(int maxTokens) const {
  const int fewest = shortestToEnd();
  if (!status().ok()) return status();
  if (fewest <= maxTokens) return {};
  return Error{ErrorCode::kInvalidArgument,
               "The answer's form takes at least " + std::to_string(fewest) +
                   " tokens, its end included, and only " + std::to_string(maxTokens) + " are allowed.",
               "max_tokens"};
}

}  // namespace tandem
