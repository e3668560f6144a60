// Generation with a drafter against plain generation, on one decoder and one text: the same tokens, the same
// bits of logits, the same bytes in the sequence.
#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "engine/session/generator.h"
#include "engine/verify/checks.h"

namespace tandem {

class SpeculationChecks {
 public:
  // Generates `tokens` tokens after the text's first hundred. REQUIRES: decoder and text outlive this.
  SpeculationChecks(Decoder& decoder, const std::vector<TokenId>& text, int tokens,
                    const std::atomic<bool>* cancel)
      : decoder_(decoder), text_(text), tokens_(tokens), cancel_(cancel) {}

  // Fails too when the run drafted nothing, or had nothing accepted where the drafter knows the text.
  Status check(TokenOrigin drafter, DraftShape shape, CheckResult& result);

 private:
  struct Run {
    GenerationOutcome outcome;
    Sequence sequence;
  };
  Result<Run> generate(const SpeculationOptions& speculation);

  Decoder& decoder_;
  const std::vector<TokenId>& text_;
  int tokens_;
  const std::atomic<bool>* cancel_;
  std::optional<Run> plain_;
};

}  // namespace tandem
