// What drafters have in common that run a model for each guess: they guess one token after the other, and in
// a tree with the next best tokens beside each; how good a guess is, is calibrated by what the target
// accepted.
//
// A guess is the token that the target would choose of the drafter's own scores: greedily the highest,
// sampled the one that the target's own noise picks (docs/sampling.md). For the rejection sampler guesses are
// drawn with another noise, and carry the distribution they were drawn from.
#pragma once

#include "engine/speculation/calibration.h"
#include "engine/speculation/drafter.h"

namespace tandem {

class ModelDrafter : public Drafter {
 public:
  // sampling: how the target chooses; null: greedily.
  ModelDrafter(Calibration& calibration, const SamplingParams* sampling)
      : calibration_(calibration), sampling_(sampling && !sampling->greedy() ? sampling : nullptr) {}
  Draft propose(const DraftBudget& budget) final;
  void observe(std::span<const TokenId> followed) final;
  double cost(const DraftBudget& budget) const final;

  // Priors of its Calibration: greedy or sampled, by rank among the guesses, and by how far a guess stands
  // out.
  static std::vector<float> priors();

 protected:
  // Makes ready for guessing after the certain tokens: logits() are those of what follows them. False: no
  // guess.
  virtual bool start() = 0;
  // Reads a guessed token; logits() are those of what follows it. False: the guessing ends here.
  virtual bool step(TokenId token) = 0;
  virtual std::span<const float> logits() const = 0;

 private:
  struct Guess {
    TokenId token;
    float probability;  // calibrated
    int evidence;
  };
  std::vector<Guess> guesses(int most, std::uint64_t index, Draft& draft) const;
  std::vector<Guess> drawn(std::uint64_t index, Draft& draft) const;

  RequestCalibration calibration_;
  const SamplingParams* sampling_;         // null: greedy
  std::vector<std::vector<Guess>> asked_;  // what the last proposal guessed at each place of its chain
  double passMs_ = 0;                      // one token's pass, an average of the last ones
};

}  // namespace tandem
