// Drafts with a small model (engine/speculation/draft_model.h).
#pragma once

#include "engine/speculation/draft_model.h"
#include "engine/speculation/drafters/model_drafter.h"

namespace tandem {

class DraftModelDrafter final : public ModelDrafter {
 public:
  // REQUIRES: the model outlives the drafter, and no other drafter uses it meanwhile.
  DraftModelDrafter(DraftModel& model, Calibration& calibration, const SamplingParams* sampling = nullptr);
  TokenOrigin origin() const override { return TokenOrigin::kDraftModel; }
  void append(std::span<const TokenId> tokens) override;

 private:
  bool start() override;
  bool step(TokenId token) override;
  std::span<const float> logits() const override { return model_.decoder().logits(0); }
  bool forward(Sequence& sequence, std::span<const TokenId> tokens);

  DraftModel& model_;
  Sequence certain_;                  // what the model has read of the certain tokens
  std::vector<TokenId> pending_;      // certain tokens that it has not read
  Sequence ahead_;                    // what it has read with the last proposal's chain
  std::vector<TokenId> chain_;        // tokens of the last proposal that it has read
  std::vector<Sequence> afterChain_;  // the sequence after the certain tokens and i + 1 of the chain
  bool failed_ = false;               // the context is full, or a pass failed: no more guesses
};

}  // namespace tandem
