// The drafters of tests and measurements: wrong on purpose, right or wrong by a coin, always right, and
// random trees. All are pure functions of their seed and the text so far, so that a run can be repeated.
#pragma once

#include "engine/speculation/drafter.h"

namespace tandem {

// A generator that is good enough to shape test trees (SplitMix64).
class TestRandom {
 public:
  explicit TestRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  int below(int bound) { return static_cast<int>(next() % static_cast<std::uint64_t>(bound)); }

 private:
  std::uint64_t state_;
};

// What they share: the length and a hash of the text so far.
class OnPurposeDrafter : public Drafter {
 public:
  OnPurposeDrafter(int vocabulary, std::uint64_t seed) : vocabulary_(vocabulary), seed_(seed), state_(seed) {}
  void append(std::span<const TokenId> tokens) override;
  void observe(std::span<const TokenId>) override {}
  double cost(const DraftBudget&) const override { return 0; }

 protected:
  TestRandom random() const { return TestRandom(state_); }
  // A token that is none of the children of `parent`, nor `not`. -1: the vocabulary has no more.
  TokenId otherToken(TestRandom& random, const Draft& draft, int parent, TokenId butNot) const;

  const int vocabulary_;
  const std::uint64_t seed_;
  std::uint64_t state_;
};

// Tokens that have nothing to do with the text: a chain, or the widest and deepest mixture of siblings.
class WrongDrafter : public OnPurposeDrafter {
 public:
  using OnPurposeDrafter::OnPurposeDrafter;
  TokenOrigin origin() const override { return TokenOrigin::kWrong; }
  Draft propose(const DraftBudget& budget) override;
};

// Knows the answer: the options' reference holds its tokens from index 0 on; `answered` of them are in the
// context that append() gives first.
class ReferenceDrafter : public OnPurposeDrafter {
 public:
  ReferenceDrafter(int vocabulary, const SpeculationOptions& options, std::size_t answered)
      : OnPurposeDrafter(vocabulary, options.seed), reference_(options.reference), next_(answered) {}
  void append(std::span<const TokenId> tokens) override;

 protected:
  // The answer's token at `i` places from here, or -1 past its end.
  TokenId known(std::size_t i) const { return next_ + i < reference_.size() ? reference_[next_ + i] : -1; }

  const std::vector<TokenId> reference_;
  std::size_t next_;
  bool begun_ = false;
};

// The right tokens; in a tree each with wrong siblings before it, so that the path is never the first one.
class OracleDrafter : public ReferenceDrafter {
 public:
  using ReferenceDrafter::ReferenceDrafter;
  TokenOrigin origin() const override { return TokenOrigin::kOracle; }
  Draft propose(const DraftBudget& budget) override;
};

// At each place of the answer a coin says whether the right token is drafted or a wrong one; in a tree both
// stand beside one another where the coin says wrong, one of them going on.
class HalfRightDrafter : public ReferenceDrafter {
 public:
  using ReferenceDrafter::ReferenceDrafter;
  TokenOrigin origin() const override { return TokenOrigin::kHalfRight; }
  Draft propose(const DraftBudget& budget) override;
};

// A tree of any shape and of any size up to the budget, with random tokens and random probabilities. With a
// reference, half of the nodes below the right path are right.
class RandomDrafter : public ReferenceDrafter {
 public:
  using ReferenceDrafter::ReferenceDrafter;
  TokenOrigin origin() const override { return TokenOrigin::kRandom; }
  Draft propose(const DraftBudget& budget) override;
};

}  // namespace tandem
