// The loop of speculation over a model of six tokens whose logits are a formula: draft, walk, accept, as the
// engine does, without an engine. Fast enough to draw hundreds of thousands of answers, and able to do wrong
// what must be found out.
#pragma once

#include <vector>

#include "engine/sampler/chooser.h"
#include "engine/speculation/draft.h"

namespace tandem::test {

inline constexpr int kSixTokens = 6;

enum class Drafts {
  kNone,
  kChain,
  kTree,
  kDrawnChain,  // drawn from a distribution, which it carries
};
enum class ChoiceFault {
  kNone,
  kPenaltyOfAnotherRow,  // counted for the row above
  kNoiseOfAnotherIndex,  // of the row in the batch, not of the answer's token
  kForgottenPath,        // drafted tokens on the path do not count
  kRestIsAll,            // the rejection sampler draws from p where it rejects, not from max(0, p - q)
};

// The model: (kSixTokens) logits after a text.
std::vector<float> sixLogits(const std::vector<TokenId>& text);

// An answer of so many tokens.
std::vector<TokenId> draftedText(const SamplingParams& params, const std::vector<TokenId>& prompt, int tokens,
                                 Drafts drafts, ChoiceFault fault = ChoiceFault::kNone);
// The same by the long way, without any draft.
std::vector<TokenId> referenceText(const SamplingParams& params, const std::vector<TokenId>& prompt,
                                   int tokens);
// The probability of every answer of so many tokens; the first token is the highest digit of its index.
std::vector<double> exactDistribution(const SamplingParams& params, const std::vector<TokenId>& prompt,
                                      int tokens);

}  // namespace tandem::test
