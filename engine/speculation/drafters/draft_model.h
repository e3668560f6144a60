// Drafts with a small model (engine/speculation/draft_model.h): greedily, one token after the other, and in a
// tree with the next likeliest tokens beside each.
#pragma once

#include "engine/speculation/calibration.h"
#include "engine/speculation/draft_model.h"
#include "engine/speculation/drafter.h"

namespace tandem {

class DraftModelDrafter : public Drafter {
 public:
  // REQUIRES: the model outlives the drafter, and no other drafter uses it meanwhile.
  DraftModelDrafter(DraftModel& model, Calibration& calibration);
  TokenOrigin origin() const override { return TokenOrigin::kDraftModel; }
  void append(std::span<const TokenId> tokens) override;
  Draft propose(const DraftBudget& budget) override;
  void observe(std::span<const TokenId> followed) override;
  double cost(const DraftBudget& budget) const override;

  // Priors of its Calibration: by rank among the model's tokens, and by the probability that it gives.
  static std::vector<float> priors();

 private:
  struct Guess {
    TokenId token;
    float probability;  // calibrated
    int evidence;
  };
  bool forward(Sequence& sequence, std::span<const TokenId> tokens);
  bool catchUp();
  std::vector<Guess> guesses(int most) const;

  DraftModel& model_;
  RequestCalibration calibration_;
  Sequence certain_;                       // what the model has read of the certain tokens
  std::vector<TokenId> pending_;           // certain tokens that it has not read
  std::vector<TokenId> chain_;             // the last proposal's first tokens
  std::vector<Sequence> afterChain_;       // the sequence after the certain tokens and i + 1 of the chain
  std::vector<std::vector<Guess>> asked_;  // what the last proposal guessed at each place of the chain
  bool failed_ = false;                    // the context is full, or a pass failed: no more guesses
  double passMs_ = 0;                      // one token's pass, an average of the last ones
};

}  // namespace tandem
