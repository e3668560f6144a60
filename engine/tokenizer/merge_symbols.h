// The merging that both kinds of BPE share: neighbouring symbols are joined, the best pair first, until no
// pair of neighbours can be joined any more.
//
// What "best" means is a rank: the lowest is joined first, and of equal ranks the leftmost. Byte-level BPE
// takes the position in its list of merges, SentencePiece BPE the order of its scores. A heap keeps the
// candidates, so n symbols cost O(n log n) steps, and nothing recurses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "engine/tokenizer/token_id.h"

namespace tandem {

// A stretch of the text that is being joined; 0 bytes long once it was joined to the one on its left.
struct Symbol {
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  std::uint32_t begin;   // in bytes
  std::uint32_t length;  // in bytes
  std::uint32_t previous;
  std::uint32_t next;
  TokenId id;  // kNoToken: no entry of the vocabulary spells it
};

// What joining two symbols gives.
struct Merge {
  std::uint32_t rank;
  TokenId id;
};

// The working memory of one call to encode; kept between pieces so that they do not allocate.
struct MergeScratch {
  struct Candidate {
    std::uint64_t order;   // rank << 32 | index of the left symbol
    std::uint32_t length;  // of both symbols together when they were looked at; else they have changed since
    TokenId id;
    bool operator>(const Candidate& other) const { return order > other.order; }
  };

  std::vector<Symbol> symbols;
  std::vector<Candidate> candidates;

  // Adds a symbol after the last one.
  void append(std::uint32_t begin, std::uint32_t length, TokenId id) {
    const auto index = static_cast<std::uint32_t>(symbols.size());
    if (index > 0) symbols.back().next = index;
    symbols.push_back({begin, length, index > 0 ? index - 1 : Symbol::kNone, Symbol::kNone, id});
  }
};

// Joins scratch.symbols. `findMerge(left, right)` returns what two neighbours give: std::optional<Merge>. The
// symbols that are left are those of length > 0.
template <class FindMerge>
void mergeSymbols(MergeScratch& scratch, const FindMerge& findMerge) {
  std::vector<Symbol>& symbols = scratch.symbols;
  std::vector<MergeScratch::Candidate>& heap = scratch.candidates;
  const auto lookAt = [&](std::uint32_t left, std::uint32_t right) {
    if (left == Symbol::kNone || right == Symbol::kNone) return false;
    const std::optional<Merge> merge = findMerge(symbols[left], symbols[right]);
    if (!merge) return false;
    heap.push_back(
        {std::uint64_t{merge->rank} << 32 | left, symbols[left].length + symbols[right].length, merge->id});
    return true;
  };
  const auto push = [&](std::uint32_t left, std::uint32_t right) {
    if (lookAt(left, right)) std::push_heap(heap.begin(), heap.end(), std::greater<>());
  };

  heap.clear();
  for (std::uint32_t i = 1; i < symbols.size(); ++i)
    lookAt(i - 1, i);
  std::make_heap(heap.begin(), heap.end(), std::greater<>());
  while (!heap.empty()) {
    const MergeScratch::Candidate best = heap.front();
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    heap.pop_back();
    const auto index = static_cast<std::uint32_t>(best.order);
    Symbol& left = symbols[index];
    if (left.length == 0 || left.next == Symbol::kNone) continue;
    Symbol& right = symbols[left.next];
    // Symbols only ever grow, so an unchanged sum means an unchanged pair.
    if (left.length + right.length != best.length) continue;

    left.length = best.length;
    left.id = best.id;
    left.next = right.next;
    right.length = 0;
    if (left.next != Symbol::kNone) symbols[left.next].previous = index;
    push(left.previous, index);
    push(index, left.next);
  }
}

}  // namespace tandem
