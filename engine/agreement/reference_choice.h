// The token that a request's options choose of a row of logits, computed the long way: the whole history is
// counted anew, the whole vocabulary is sorted, every token gets its noise. What engine/sampler is held
// against; the two share the noise and the functions exp and log.
#pragma once

#include <span>
#include <vector>

#include "engine/constraint/token_mask.h"
#include "engine/session/generation.h"

namespace tandem::agreement {

// prompt and answer: what stands before the choice, whose index in the answer is answer.size(). barred: end
// and stop tokens while the answer is too short; empty otherwise. mask: what alone may be chosen; null: all.
// REQUIRES: checkSampling(params).ok(); the mask leaves something.
TokenId referenceChoice(std::span<const float> logits, const SamplingParams& params,
                        std::span<const TokenId> prompt, std::span<const TokenId> answer,
                        std::span<const TokenId> barred = {}, const TokenMask* mask = nullptr);

// (vocabulary) probabilities of that choice, of a request that samples; 0 for what the bars and filters leave
// out. REQUIRES: !params.greedy().
std::vector<double> referenceDistribution(std::span<const float> logits, const SamplingParams& params,
                                          std::span<const TokenId> prompt, std::span<const TokenId> answer,
                                          std::span<const TokenId> barred = {});

}  // namespace tandem::agreement
