// Rejection sampling of a drafted chain, for measurement beside the sampler of the promise: a drafted token x
// is taken with probability min(1, p(x) / q(x)), p the target's distribution and q the one that x was drawn
// from; else the token is drawn from max(0, p - q), renormalised. Every token then follows p, whatever was
// drafted (Leviathan, Kalman and Matias, "Fast inference from transformers via speculative decoding", 2023),
// but which token it is depends on the draft.
#pragma once

#include <span>

#include "engine/sampler/sampler.h"
#include "engine/speculation/draft.h"

namespace tandem {

// What chooseToken() draws from, by token id.
Proposal distributionOf(std::span<const float> scores, const SamplingParams& params);

// The target's token after `node` at index t, of its scores there. A node without a proposal was certain: q
// is 1. REQUIRES: the draft is a chain; those of chooseToken(); !params.greedy().
TokenId rejectionChoice(const Draft& draft, int node, std::span<const float> scores,
                        const SamplingParams& params, std::uint64_t t);

}  // namespace tandem
