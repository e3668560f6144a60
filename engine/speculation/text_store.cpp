#include "engine/speculation/text_store.h"

namespace tandem {

void MemoryTextStore::add(std::span<const TokenId> text) {
  const std::lock_guard lock(mutex_);
  const TokenId end = SuffixIndex::kBreak;
  index_.append(text);
  index_.append(std::span(&end, 1));
}

std::vector<Continuation> MemoryTextStore::find(std::span<const TokenId> context, int length, int most) {
  const std::lock_guard lock(mutex_);
  return index_.find(context, length, most, false);
}

}  // namespace tandem
