// The reference of the promise: plain decoding, one forward pass per token, on its own loop and not the
// generator's, each token chosen the long way (reference_choice.h), with everything kept that a speculated
// run is compared with.
//
// Belongs to one thread. Memory: tokens times (a row of logits + the pages and state in which two
// neighbouring tokens differ).
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "engine/base/status.h"
#include "engine/constraint/constraint.h"
#include "engine/model/decoder.h"
#include "engine/session/generation.h"

namespace tandem::agreement {

struct PlainRun {
  std::vector<TokenId> tokens;             // the answer
  std::vector<std::vector<float>> logits;  // logits[t]: (vocabulary), the row token t was chosen from
  std::vector<Sequence> before;            // before[t]: the prompt and tokens 0 ... t - 1, forwarded
  int end = -1;                            // index of the first end token; -1: none
  double seconds = 0;
};

// Decodes `count` tokens after the prompt, greedily by default; with endAtEndTokens fewer, the end token
// included. The text has the form, if there is one. Errors: kInvalidArgument (an empty prompt, a token
// outside the vocabulary, a form that takes more tokens), kContextLengthExceeded, and those of
// Decoder::forward. REQUIRES: checkSampling(sampling).ok(); a form has endAtEndTokens.
Result<PlainRun> decodePlain(Decoder& decoder, std::span<const TokenId> prompt, int count,
                             bool endAtEndTokens, const std::atomic<bool>* cancel = nullptr,
                             const SamplingParams& sampling = {}, const Constraint* form = nullptr);

// The highest score, lowest id on an equal score.
TokenId highest(std::span<const float> logits);

// How far the two highest scores of a row lie apart, in BF16 ulps of the higher one: one ulp is
// 2^(floor(log2 |best|) - 7).
double topTwoGapUlps(std::span<const float> logits);

}  // namespace tandem::agreement
