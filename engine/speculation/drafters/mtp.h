// Drafts with the model file's own multi-token-prediction block: from the target's last hidden state and the
// certain token the next one, and so on from the block's own hidden states.
#pragma once

#include "engine/model/decoder.h"
#include "engine/speculation/drafters/model_drafter.h"

namespace tandem {

class MtpDrafter final : public ModelDrafter {
 public:
  // `sequence`: what the target has committed, all but the last certain token. REQUIRES: the model has the
  // block; decoder and sequence outlive the drafter.
  MtpDrafter(Decoder& decoder, const Sequence& sequence, Calibration& calibration,
             const SamplingParams* sampling = nullptr);
  TokenOrigin origin() const override { return TokenOrigin::kMtp; }
  void append(std::span<const TokenId> tokens) override;

 private:
  bool start() override;
  bool step(TokenId token) override;
  std::span<const float> logits() const override { return decoder_.logits(0); }

  Decoder& decoder_;
  const Sequence& sequence_;
  Sequence ahead_;     // a fork of it, which goes on with guesses
  TokenId last_ = -1;  // the last certain token
};

}  // namespace tandem
