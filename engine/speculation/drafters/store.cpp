#include "engine/speculation/drafters/store.h"

#include <algorithm>

#include "engine/base/stopwatch.h"

namespace tandem {

void StoreDrafter::append(std::span<const TokenId> tokens) {
  end_.insert(end_.end(), tokens.begin(), tokens.end());
  if (end_.size() > 4 * kMatchMost) end_.erase(end_.begin(), end_.end() - kMatchMost);
}

Draft StoreDrafter::propose(const DraftBudget& budget) {
  constexpr int kPlaces = 16;
  const Stopwatch watch;
  const auto found = store_.find(end_, budget.nodes, budget.tree ? kPlaces : 1);
  const double ms = watch.ms();
  ms_ = ms_ == 0 ? ms : ms_ + 0.2 * (ms - ms_);
  return tree_.build(found, budget, origin(), calibration_);
}

}  // namespace tandem
