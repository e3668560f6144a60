// The target without any speculation, for statistics of sampled answers: draws answers to one prompt, and
// tells how well answers that were drawn elsewhere fit its distribution.
//
// Borrows a decoder and is used by one thread.
#pragma once

#include <random>
#include <vector>

#include "engine/base/status.h"
#include "engine/model/decoder.h"
#include "engine/session/generation.h"

namespace tandem::agreement {

class TargetAlone {
 public:
  // `seed`: of the dice that placesOf() throws.
  TargetAlone(Decoder& decoder, std::uint64_t seed)
      : decoder_(decoder), base_(decoder.newSequence()), dice_(seed) {}

  // Reads the prompt of all that follows. Errors: those of Decoder::read.
  Status usePrompt(std::vector<TokenId> prompt, const std::atomic<bool>* cancel);

  // An answer of `tokens` tokens, or up to an end token. Errors: those of Decoder::read.
  Result<std::vector<TokenId>> draw(const SamplingParams& sampling, int tokens,
                                    const std::atomic<bool>* cancel);

  // Where each token of an answer lies in its distribution: a number between 0 and 1, uniform and independent
  // of the others when the answer was drawn from the target. It is the probability of the tokens of lower
  // ids, and a random part of the token's own. -1 for a token of probability 0. Errors: those of
  // Decoder::forward. REQUIRES: !sampling.greedy(); the answer is not empty.
  Result<std::vector<double>> placesOf(const std::vector<TokenId>& answer, const SamplingParams& sampling,
                                       const std::atomic<bool>* cancel);

 private:
  double placeOf(std::span<const float> logits, const std::vector<TokenId>& answer, std::size_t index,
                 const SamplingParams& sampling);

  Decoder& decoder_;
  std::vector<TokenId> prompt_;
  Sequence base_;             // behind the prompt
  std::vector<float> first_;  // (vocabulary) logits there
  std::mt19937_64 dice_;
};

}  // namespace tandem::agreement
