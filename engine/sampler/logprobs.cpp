#include <algorithm>
#include <limits>

#include "engine/kernels/math64.h"
#include "engine/sampler/sampler.h"

namespace tandem {

using kernels::exp64;
using kernels::log64;

ChosenLogprobs logprobsOf(std::span<const float> scores, const SamplingParams& params, TokenId chosen) {
  SamplingParams drawn;
  drawn.temperature = 1;
  if (!params.greedy()) drawn = params;
  std::vector<Candidate> kept = filterLogits(scores, drawn);
  double total = 0;
  for (const Candidate& c : kept)
    total += exp64(c.score);
  const double logTotal = log64(total);

  ChosenLogprobs result{-std::numeric_limits<double>::infinity(), {}};
  for (const Candidate& c : kept)
    if (c.token == chosen) result.chosen = c.score - logTotal;
  const std::size_t count = std::min<std::size_t>(params.logprobs, kept.size());
  std::partial_sort(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(count), kept.end(),
                    [](const Candidate& a, const Candidate& b) {
                      return a.score != b.score ? a.score > b.score : a.token < b.token;
                    });
  for (std::size_t i = 0; i < count; ++i)
    result.top.push_back({kept[i].token, kept[i].score - logTotal});
  return result;
}

}  // namespace tandem
