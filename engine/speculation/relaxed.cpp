#include "engine/speculation/relaxed.h"

#include <algorithm>

namespace tandem {

TokenId relaxedChoice(const Draft& draft, int node, std::span<const float> logits, TokenId choice,
                      const SpeculationOptions& options) {
  const float highest = *std::max_element(logits.begin(), logits.end());
  TokenId best = -1;
  for (const DraftNode& child : draft.nodes) {
    if (child.parent != node) continue;
    const float score = logits[child.token];
    if (options.relaxTau > 0 && highest - score > options.relaxTau) continue;
    const auto above = std::count_if(logits.begin(), logits.end(), [&](float x) { return x > score; });
    if (options.relaxRank > 0 && above > options.relaxRank) continue;
    if (best < 0 || score > logits[best] || (score == logits[best] && child.token < best)) best = child.token;
  }
  return best < 0 ? choice : best;
}

}  // namespace tandem
