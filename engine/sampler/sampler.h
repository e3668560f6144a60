// Chooses the token at index t of an answer from a row of scores: logits, or what chooser.h made of them. A
// token whose score is -infinity is barred and is never chosen.
//
// Temperature 0 takes the highest score, the lowest id on a tie. Otherwise temperature, top_k, top_p and
// min_p filter in this order and the choice is argmax(log p + G), G Gumbel noise keyed by (seed, choice, t,
// token id): the text does not depend on drafts, threads or neighbours. Every parameter at its edges:
// docs/sampling.md.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "engine/base/status.h"
#include "engine/session/generation.h"

namespace tandem {

// Refuses what docs/sampling.md does not allow, naming the field: kInvalidArgument. Without a vocabulary's
// size every token id of 0 or more passes.
Status checkSampling(const SamplingParams& params, int vocabulary = std::numeric_limits<int>::max());

// A seed for a request that names none, from the system's random numbers.
std::uint64_t freshSeed();

// Index of the highest score; the lowest of equal ones. REQUIRES: not empty, no NaN.
TokenId argmax(std::span<const float> scores);

// A uniform with 52 bits, strictly between 0 and 1, that belongs to (seed, choice, t, token).
double uniformNoise(std::uint64_t seed, std::uint32_t choice, std::uint64_t t, TokenId token);

// Gumbel noise of a token: -log(-log u), u uniform in (0, 1) with 52 bits.
double gumbelNoise(std::uint64_t seed, std::uint32_t choice, std::uint64_t t, TokenId token);

// A token and its score (score - highest score) / temperature, in double.
struct Candidate {
  TokenId token;
  double score;
};

// The tokens that temperature, top_k, top_p and min_p leave; barred ones are not among them. Sorted by score,
// then id, when top_k or top_p is set; otherwise in the order of ids. REQUIRES: !params.greedy(),
// checkSampling(params).ok(), no NaN, at least one token that is not barred.
std::vector<Candidate> filterLogits(std::span<const float> scores, const SamplingParams& params);

// The tokens of the `count` highest scores, sorted by score, then id; barred ones are not among them.
// REQUIRES: not empty, no NaN, count > 0.
std::vector<TokenId> highestTokens(std::span<const float> scores, int count);

// The score that a token has among candidates of which the best has `highest`.
double candidateScore(float score, float highest, float temperature);

// Whether min_p keeps a token of this score where the highest candidate has `highest`.
bool keptByMinP(float score, float highest, const SamplingParams& params);

// As chooseToken(), were all tokens but these barred. REQUIRES: as there, and `tokens` are not empty.
TokenId chooseAmong(std::span<const float> scores, std::span<const TokenId> tokens,
                    const SamplingParams& params, std::uint64_t t);

// The first tokens in the order in which they are drawn without filters: what chooseToken() draws, then what
// it would draw were those before barred, and so on. REQUIRES: as filterLogits().
std::vector<TokenId> drawOrder(std::span<const float> scores, const SamplingParams& params, std::uint64_t t);

// The token at index `t` of answer params.choice. REQUIRES: checkSampling(params).ok(), no NaN, at least one
// token that is not barred.
TokenId chooseToken(std::span<const float> scores, const SamplingParams& params, std::uint64_t t);

// Logarithms of probabilities in the distribution that chooseToken() draws from: of what the filters leave,
// renormalised; at temperature 0 of all tokens at temperature 1. REQUIRES: as above, params.logprobs >= 0.
ChosenLogprobs logprobsOf(std::span<const float> scores, const SamplingParams& params, TokenId chosen);

}  // namespace tandem
