// What drafters have in common that run a model for each guess: they guess greedily, one token after the
// other, and in a tree with the next likeliest tokens beside each; the model's probabilities are calibrated
// by what the target accepted.
#pragma once

#include "engine/speculation/calibration.h"
#include "engine/speculation/drafter.h"

namespace tandem {

class ModelDrafter : public Drafter {
 public:
  explicit ModelDrafter(Calibration& calibration) : calibration_(calibration) {}
  Draft propose(const DraftBudget& budget) final;
  void observe(std::span<const TokenId> followed) final;
  double cost(const DraftBudget& budget) const final;

  // Priors of its Calibration: by rank among the model's tokens, and by the probability that it gives.
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
  std::vector<Guess> guesses(int most) const;

  RequestCalibration calibration_;
  std::vector<std::vector<Guess>> asked_;  // what the last proposal guessed at each place of its chain
  double passMs_ = 0;                      // one token's pass, an average of the last ones
};

}  // namespace tandem
