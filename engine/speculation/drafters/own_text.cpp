#include "engine/speculation/drafters/own_text.h"

#include <algorithm>

namespace tandem {

// Of the `order` tokens before `end`. Equal hashes are compared token by token before use.
std::uint64_t OwnTextDrafter::suffixHash(int order, int end) const {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (int i = end - order; i < end; ++i)
    hash = (hash ^ static_cast<std::uint32_t>(text_[i])) * 0x100000001B3u;
  return hash;
}

void OwnTextDrafter::append(std::span<const TokenId> tokens) {
  for (const TokenId token : tokens) {
    // The suffixes that end here get a successor now.
    const int end = static_cast<int>(text_.size());
    for (int order = kShortest; order <= std::min(kLongest, end); ++order)
      index_[order][suffixHash(order, end)] = end;
    text_.push_back(token);
  }
}

// Position after an earlier occurrence of the last `order` tokens, or -1.
int OwnTextDrafter::findEarlier(int order) const {
  const int end = static_cast<int>(text_.size());
  if (end < order) return -1;
  const auto found = index_[order].find(suffixHash(order, end));
  if (found == index_[order].end()) return -1;
  const auto last = text_.end() - order;
  return std::equal(last, text_.end(), text_.begin() + found->second - order) ? found->second : -1;
}

Draft OwnTextDrafter::propose(const DraftBudget& budget) {
  const int width = std::min(budget.nodes, budget.depth);
  Draft draft;
  for (int order = kLongest; order >= kShortest; --order) {
    const int from = findEarlier(order);
    if (from < 0) continue;
    // Past the end of the text the draft itself goes on, so a cycle is continued as a cycle.
    for (int i = from; draft.size() < width; ++i) {
      const int known = static_cast<int>(text_.size());
      draft.add(i < known ? text_[i] : draft.nodes[i - known].token, draft.size() - 1, 0.5f, origin());
    }
    break;
  }
  return draft;
}

}  // namespace tandem
