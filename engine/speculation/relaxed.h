// Relaxed accept: takes a drafted token that the target did not choose but scores nearly as high. For
// measurement only; it breaks the promise (docs/speculation.md).
#pragma once

#include <span>

#include "engine/speculation/draft.h"

namespace tandem {

// The highest-scoring child of `node` that the options' tau and rank let pass, else `choice`. The lower id
// wins on equal scores. REQUIRES: options.relaxed().
TokenId relaxedChoice(const Draft& draft, int node, std::span<const float> logits, TokenId choice,
                      const SpeculationOptions& options);

}  // namespace tandem
