// Chooses the token at index t of an answer from a row of logits: one function for plain, drafted and resumed
// rows.
//
// Temperature 0 takes the highest score, the lowest id on a tie. Otherwise temperature, top_k, top_p and
// min_p filter in this order and the choice is argmax(log p + G), G Gumbel noise keyed by (seed, choice, t,
// token id): the text does not depend on drafts, threads or neighbours. Every parameter at its edges:
// docs/sampling.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/status.h"
#include "engine/session/generation.h"

namespace tandem {

// Refuses what docs/sampling.md does not allow, naming the field: kInvalidArgument.
Status checkSampling(const SamplingParams& params);

// Index of the highest logit; the lowest of equal ones. REQUIRES: not empty, no NaN.
TokenId argmax(std::span<const float> logits);

// Gumbel noise of a token: -log(-log u), u uniform in (0, 1) with 52 bits.
double gumbelNoise(std::uint64_t seed, std::uint32_t choice, std::uint64_t t, TokenId token);

// A token and its score (logit - highest logit) / temperature, in double.
struct Candidate {
  TokenId token;
  double score;
};

// The tokens that temperature, top_k, top_p and min_p leave. Sorted by score, then id, when top_k or top_p is
// set; otherwise in the order of ids. REQUIRES: !params.greedy(), checkSampling(params).ok(), logits finite.
std::vector<Candidate> filterLogits(std::span<const float> logits, const SamplingParams& params);

// The token at index `t` of answer `choice` of a request. REQUIRES: checkSampling(params).ok(), logits
// finite.
TokenId chooseToken(std::span<const float> logits, const SamplingParams& params, std::uint64_t t,
                    std::uint32_t choice = 0);

}  // namespace tandem
