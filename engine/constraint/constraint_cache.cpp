#include "engine/constraint/constraint_cache.h"

#include <algorithm>

namespace tandem {
namespace {

constexpr std::size_t kMostKept = 8;

}  // namespace

Result<std::shared_ptr<const Constraint>> ConstraintCache::find(const ConstraintSpec& spec) {
  if (spec.kind == ConstraintSpec::Kind::kNone) return std::shared_ptr<const Constraint>();
  const std::lock_guard lock(mutex_);
  const auto known =
      std::find_if(kept_.begin(), kept_.end(), [&](const auto& one) { return one.first == spec; });
  if (known != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, known);
    return kept_.front().second;
  }
  if (!vocabulary_) vocabulary_ = std::make_shared<const TokenTrie>(tokenizer_);
  Result<std::shared_ptr<const Constraint>> made = Constraint::compile(spec, vocabulary_);
  if (!made.ok()) return made.error();
  kept_.emplace_front(spec, *made);
  if (kept_.size() > kMostKept) kept_.pop_back();
  return *made;
}

}  // namespace tandem
