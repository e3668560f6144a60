#include "engine/speculation/drafters/wrong.h"

namespace tandem {

void WrongDrafter::append(std::span<const TokenId> tokens) {
  for (const TokenId token : tokens)
    state_ = (state_ ^ static_cast<std::uint32_t>(token)) * 0x100000001B3u;
}

Draft WrongDrafter::propose(int width) {
  Draft draft;
  draft.origin = TokenOrigin::kWrong;
  std::uint64_t x = state_;
  while (draft.size() < width) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    draft.extendChain(static_cast<TokenId>((x >> 33) % static_cast<std::uint64_t>(vocabulary_)));
  }
  return draft;
}

}  // namespace tandem
