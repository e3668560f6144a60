// Chooses one request's tokens: everything that the request asks of a choice, applied to a row of logits with
// the history of that row's own path. The one function for plain, drafted and resumed rows.
//
// A row goes through these steps (docs/sampling.md):
//   1. penalties and biases change scores;
//   2. bars take tokens out: masks first, then ends before the minimum, then runs that would repeat. A bar
//      that would leave nothing is lifted, a mask never is;
//   3. sampler.h chooses: temperature, top_k, top_p, min_p and noise, or the highest score.
// The mask is that of a constraint's matcher, which follows push() and pop() (docs/structured-output.md).
// Where a few tokens tried one by one tell what the choice among the allowed ones is, the mask is not made.
//
// Belongs to one request and its thread. Memory: a row of scores, and what the history holds.
#pragma once

#include <span>
#include <vector>

#include "engine/constraint/constraint.h"
#include "engine/sampler/history.h"
#include "engine/session/generation.h"

namespace tandem {

class Chooser {
 public:
  // `ends` are the tokens that end the answer; while it has fewer than `minTokens` tokens they are barred.
  // REQUIRES: checkSampling() of the parameters is ok; all tokens lie in the vocabulary.
  Chooser(SamplingParams sampling, int minTokens, std::vector<TokenId> ends);

  // What the answer follows. Once, before anything else.
  void begin(std::span<const TokenId> prompt) { history_.begin(prompt); }
  // From here on the text follows a constraint: `matcher` stands where the path does, and `tokensLeft` tokens
  // may still be chosen behind it. At most once. REQUIRES: tokensLeft >= matcher.shortestToEnd()
  void constrain(Matcher matcher, int tokensLeft);
  // Goes one token down a path, and back up. What was chosen and kept is pushed and stays.
  void push(TokenId token);
  void pop();
  // An error when the constraint could not be followed: what was chosen then means nothing.
  const Status& status() const;

  // Whether the next choice is simply the row's highest logit, so that choose() need not be asked.
  bool takesHighest() const;

  // The token after the path, at index answered() of the answer. REQUIRES: `logits` are finite, a row of the
  // vocabulary.
  TokenId choose(std::span<const float> logits);

  // The scores after step 2, of which choose() would choose: `logits` themselves where nothing changes them,
  // else valid until the next call. A barred token scores -infinity.
  std::span<const float> scores(std::span<const float> logits);

  // What the request wants told of the token that was chosen of this row; before it is pushed.
  ChosenLogprobs logprobs(std::span<const float> logits, TokenId chosen);

  const SamplingParams& sampling() const { return sampling_; }
  std::uint64_t answered() const { return static_cast<std::uint64_t>(history_.answered()); }

 private:
  bool constrained() const { return !matchers_.empty(); }
  int tokensLeft() const { return tokensLeft_ - static_cast<int>(matchers_.size()) + 1; }
  TokenId chooseConstrained(std::span<const float> logits);
  TokenId chooseByTrying(std::span<const float> unmasked);
  TokenId highestByTrying(std::span<const float> unmasked);
  TokenId topKByTrying(std::span<const float> unmasked);
  TokenId drawnByTrying(std::span<const float> unmasked);
  TokenId chooseOfFew(std::span<const float> unmasked);
  bool allows(TokenId token) const { return matchers_.back().allows(token, tokensLeft()); }
  void changeScores(std::span<const float> logits, bool masked);
  void mask();
  void penalise();
  void bar();
  void barUnlessAll(std::span<const TokenId> tokens);
  bool barsEnds() const { return history_.answered() < minTokens_ && !ends_.empty(); }

  const SamplingParams sampling_;
  const int minTokens_;
  const std::vector<TokenId> ends_;
  ChoiceHistory history_;
  std::vector<float> scores_;      // (vocabulary), of the row in hand
  std::vector<Matcher> matchers_;  // where the constraint began, then one for each token behind it
  int tokensLeft_ = 0;             // where it began
  Status status_;
};

}  // namespace tandem
