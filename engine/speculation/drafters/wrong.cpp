#include "engine/speculation/drafters/wrong.h"

#include <algorithm>

namespace tandem {

void WrongDrafter::append(std::span<const TokenId> tokens) {
  for (const TokenId token : tokens)
    state_ = (state_ ^ static_cast<std::uint32_t>(token)) * 0x100000001B3u;
}

Draft WrongDrafter::propose(const DraftBudget& budget) {
  const int width = std::min(budget.nodes, budget.depth);
  Draft draft;
  std::uint64_t x = state_;
  while (draft.size() < width) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    draft.add(static_cast<TokenId>((x >> 33) % static_cast<std::uint64_t>(vocabulary_)), draft.size() - 1,
              0.5f, origin());
  }
  return draft;
}

}  // namespace tandem
