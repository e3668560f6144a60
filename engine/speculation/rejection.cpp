#include "engine/speculation/rejection.h"

#include <algorithm>
#include <limits>

#include "engine/kernels/math64.h"

namespace tandem {
namespace {

using kernels::exp64;
using kernels::log64;

constexpr TokenId kCoin = -1;  // no token: its noise decides whether a draft is taken

double probabilityOf(const Proposal& proposal, TokenId token) {
  const auto at = std::ranges::lower_bound(proposal, token, {}, &TokenProbability::token);
  return at == proposal.end() || at->token != token ? 0 : at->probability;
}

// A draw from weights that need not sum to 1.
TokenId draw(const Proposal& weights, const SamplingParams& params, std::uint64_t t) {
  TokenId best = weights.front().token;
  double highest = -std::numeric_limits<double>::infinity();
  for (const auto& [token, weight] : weights) {
    if (weight < std::numeric_limits<double>::min()) continue;
    const double score = log64(weight) + gumbelNoise(params.seed, params.choice, t, token);
    if (score <= highest) continue;
    highest = score;
    best = token;
  }
  return best;
}

}  // namespace

Proposal distributionOf(std::span<const float> scores, const SamplingParams& params) {
  Proposal all;
  double total = 0;
  for (const Candidate& c : filterLogits(scores, params)) {
    all.push_back({c.token, exp64(c.score)});
    total += all.back().probability;
  }
  for (TokenProbability& one : all)
    one.probability /= total;
  std::ranges::sort(all, {}, &TokenProbability::token);
  return all;
}

TokenId rejectionChoice(const Draft& draft, int node, std::span<const float> scores,
                        const SamplingParams& params, std::uint64_t t) {
  const int child = node + 1;  // of a chain
  if (child >= draft.size()) return chooseToken(scores, params, t);
  const TokenId drafted = draft.nodes[child].token;
  Proposal q = {{drafted, 1}};
  if (static_cast<std::size_t>(child) < draft.proposals.size()) q = draft.proposals[child];
  Proposal rest = distributionOf(scores, params);
  const double coin = uniformNoise(params.seed, params.choice, t, kCoin);
  if (coin * probabilityOf(q, drafted) < probabilityOf(rest, drafted)) return drafted;
  for (TokenProbability& one : rest)
    one.probability -= probabilityOf(q, one.token);
  return draw(rest, params, t);
}

}  // namespace tandem
