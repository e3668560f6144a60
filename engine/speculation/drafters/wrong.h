// A drafter that is wrong on purpose, for tests: a full-width chain of tokens that have nothing to do with
// the text.
#pragma once

#include "engine/speculation/drafter.h"

namespace tandem {

class WrongDrafter : public Drafter {
 public:
  explicit WrongDrafter(int vocabulary) : vocabulary_(vocabulary) {}
  TokenOrigin origin() const override { return TokenOrigin::kWrong; }
  void append(std::span<const TokenId> tokens) override;
  Draft propose(const DraftBudget& budget) override;
  void observe(std::span<const TokenId>) override {}
  double cost(const DraftBudget&) const override { return 0; }

 private:
  int vocabulary_;
  std::uint64_t state_ = 0x9E3779B97F4A7C15u;  // mixed with every token seen, so the guesses are reproducible
};

}  // namespace tandem
