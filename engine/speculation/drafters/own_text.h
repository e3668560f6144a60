// Lookup in the request's own text: where its last 8 down to 2 tokens stood before, the text may go on as it
// did there.
#pragma once

#include "engine/speculation/suffix_index.h"

namespace tandem {

class OwnTextDrafter : public Drafter {
 public:
  explicit OwnTextDrafter(Calibration& calibration) : calibration_(calibration) {}
  TokenOrigin origin() const override { return TokenOrigin::kOwnText; }
  void append(std::span<const TokenId> tokens) override { index_.append(tokens); }
  Draft propose(const DraftBudget& budget) override;
  void observe(std::span<const TokenId> followed) override { tree_.teach(followed, calibration_); }
  double cost(const DraftBudget&) const override { return 0.05; }  // measured: docs/speculation.md

  static constexpr int kPlaces = 16;  // looked at in a round

 private:
  SuffixIndex index_;
  ContinuationTree tree_;
  RequestCalibration calibration_;
};

}  // namespace tandem
