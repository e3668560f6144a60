// Lookup in the request's own text: the longest recent match of its last 8 down to 2 tokens, continued as it
// went on the last time.
#pragma once

#include <array>
#include <unordered_map>
#include <vector>

#include "engine/speculation/drafter.h"

namespace tandem {

class OwnTextDrafter : public Drafter {
 public:
  TokenOrigin origin() const override { return TokenOrigin::kOwnText; }
  void append(std::span<const TokenId> tokens) override;
  Draft propose(const DraftBudget& budget) override;
  void observe(std::span<const TokenId>) override {}
  double cost(const DraftBudget&) const override { return 0; }

  static constexpr int kLongest = 8;
  static constexpr int kShortest = 2;

 private:
  std::uint64_t suffixHash(int order, int end) const;
  int findEarlier(int order) const;

  std::vector<TokenId> text_;
  // Per order: hash of the tokens that end before a position, to the latest such position that has a
  // successor.
  std::array<std::unordered_map<std::uint64_t, int>, kLongest + 1> index_;
};

}  // namespace tandem
