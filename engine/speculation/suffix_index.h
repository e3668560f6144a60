// Finds earlier places of a token sequence where its last tokens stood before. Grows token by token: each one
// adds the suffixes of 8 down to 2 tokens that end before it, in constant time; a lookup looks at a bounded
// number of places, whatever the text's length. Belongs to one thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/speculation/continuation.h"

namespace tandem {

class SuffixIndex {
 public:
  static constexpr int kLongest = 8;
  static constexpr int kShortest = 2;
  static constexpr TokenId kBreak = -1;  // between texts: no match and no continuation goes across

  void append(std::span<const TokenId> tokens);
  int size() const { return static_cast<int>(text_.size()); }

  // At most `most` places where the last tokens of `context` stood, longest match first, of equal ones the
  // latest; each with up to `length` tokens that followed. ownEnd: `context` is the text of this index, and a
  // continuation that reaches its end goes on with itself, so that a cycle is continued as a cycle.
  std::vector<Continuation> find(std::span<const TokenId> context, int length, int most, bool ownEnd) const;
  std::vector<Continuation> findOwn(int length, int most) const { return find(text_, length, most, true); }

 private:
  static constexpr int kOrders = kLongest - kShortest + 1;
  using Hashes = std::array<std::uint64_t, kOrders>;

  static int hashesOf(std::span<const TokenId> end, Hashes& hashes);
  int matchAt(int place, std::span<const TokenId> context) const;
  Continuation continuationAt(int place, int match, int length, bool ownEnd) const;

  std::vector<TokenId> text_;
  // Per order: hash of the tokens that end before a place, to the latest such place.
  std::array<std::unordered_map<std::uint64_t, int>, kOrders> latest_;
  std::vector<std::array<int, kOrders>> earlier_;  // per place and order: the place before with that hash; -1
};

}  // namespace tandem
