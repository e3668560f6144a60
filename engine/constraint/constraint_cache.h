// The constraints that were compiled last for one vocabulary, so that a form that is asked for again is ready
// at once.
//
// Any thread may ask; compiling is done by one at a time.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "engine/constraint/constraint.h"

namespace tandem {

class ConstraintCache {
 public:
  explicit ConstraintCache(std::shared_ptr<const Tokenizer> tokenizer) : tokenizer_(std::move(tokenizer)) {}

  // Null for a spec of kind kNone. Errors: those of Constraint::compile.
  Result<std::shared_ptr<const Constraint>> find(const ConstraintSpec& spec);

 private:
  const std::shared_ptr<const Tokenizer> tokenizer_;
  std::mutex mutex_;
  std::shared_ptr<const TokenTrie> vocabulary_;  // made when the first constraint is asked for
  std::list<std::pair<ConstraintSpec, std::shared_ptr<const Constraint>>> kept_;  // the last one first
};

}  // namespace tandem
