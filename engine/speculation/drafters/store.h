// Lookup in earlier texts (engine/speculation/text_store.h).
#pragma once

#include "engine/speculation/text_store.h"

namespace tandem {

class StoreDrafter : public Drafter {
 public:
  // REQUIRES: the store outlives the drafter.
  StoreDrafter(TextStore& store, Calibration& calibration) : store_(store), calibration_(calibration) {}
  TokenOrigin origin() const override { return TokenOrigin::kStore; }
  void append(std::span<const TokenId> tokens) override;
  Draft propose(const DraftBudget& budget) override;
  void observe(std::span<const TokenId> followed) override { tree_.teach(followed, calibration_); }
  double cost(const DraftBudget&) const override { return ms_; }

 private:
  TextStore& store_;
  std::vector<TokenId> end_;  // the last kMatchMost tokens, or a few more
  ContinuationTree tree_;
  RequestCalibration calibration_;
  double ms_ = 0;  // a lookup's, an average of the last ones
};

}  // namespace tandem
