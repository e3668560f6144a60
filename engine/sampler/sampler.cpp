#include "engine/sampler/sampler.h"

#include <algorithm>
#include <cmath>

#include "engine/kernels/kernel_set.h"
#include "engine/kernels/math64.h"
#include "engine/sampler/philox.h"

namespace tandem {
namespace {

using kernels::exp64;
using kernels::log64;

Error refuse(const char* field, const std::string& what) {
  return {ErrorCode::kInvalidArgument, std::string(field) + " must be " + what, field};
}

// By score, then by id.
bool before(const Candidate& a, const Candidate& b) {
  return a.score != b.score ? a.score > b.score : a.token < b.token;
}

void keepTopK(std::vector<Candidate>& kept, std::int64_t k) {
  if (k > 0 && static_cast<std::uint64_t>(k) < kept.size()) {
    std::nth_element(kept.begin(), kept.begin() + k, kept.end(), before);
    kept.resize(k);
  }
}

// The fewest most probable tokens whose probabilities, among those kept so far, reach p. REQUIRES: kept is
// sorted.
void keepTopP(std::vector<Candidate>& kept, double p) {
  double total = 0;
  for (const Candidate& c : kept)
    total += exp64(c.score);
  double sum = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    sum += exp64(kept[i].score);
    if (sum >= p * total) {
      kept.resize(i + 1);  // the token that crosses stays
      return;
    }
  }
}

// A uniform with 52 bits, strictly between 0 and 1: (bits + 1/2) / 2^52.
double uniform(std::uint64_t seed, std::uint32_t choice, std::uint64_t t, TokenId token) {
  const PhiloxCounter counter = {static_cast<std::uint32_t>(token), static_cast<std::uint32_t>(t),
                                 static_cast<std::uint32_t>(t >> 32), choice};
  const PhiloxCounter random =
      philox(counter, {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  const std::uint64_t bits = (static_cast<std::uint64_t>(random[1]) << 32 | random[0]) >> 12;
  return (static_cast<double>(bits) + 0.5) * 0x1p-52;
}

double gumbelOf(double u) {
  return -log64(-log64(u));
}

}  // namespace

Status checkSampling(const SamplingParams& p) {
  if (!std::isfinite(p.temperature) || p.temperature < 0)
    return refuse("temperature", "a number of 0 or more");
  if (p.topK < 0) return refuse("top_k", "0 (no limit) or more");
  if (!(p.topP > 0 && p.topP <= 1)) return refuse("top_p", "above 0 and at most 1");
  if (!(p.minP >= 0 && p.minP <= 1)) return refuse("min_p", "between 0 and 1");
  return {};
}

TokenId argmax(std::span<const float> logits) {
  return kernels::bestKernels().argmax(logits.data(), static_cast<int>(logits.size()));
}

double gumbelNoise(std::uint64_t seed, std::uint32_t choice, std::uint64_t t, TokenId token) {
  return gumbelOf(uniform(seed, choice, t, token));
}

std::vector<Candidate> filterLogits(std::span<const float> logits, const SamplingParams& params) {
  const double highest = logits[argmax(logits)];
  const double temperature = params.temperature;
  std::vector<Candidate> kept(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i) {
    kept[i] = {static_cast<TokenId>(i), (logits[i] - highest) / temperature};
  }
  keepTopK(kept, params.topK);
  if (params.topK > 0 || params.topP < 1) std::sort(kept.begin(), kept.end(), before);
  if (params.topP < 1) keepTopP(kept, params.topP);
  if (params.minP > 0) {
    // Probability at least min_p times the highest one's, whose score is 0.
    const double lowest = log64(params.minP);
    std::erase_if(kept, [lowest](const Candidate& c) { return c.score < lowest; });
  }
  return kept;
}

TokenId chooseToken(std::span<const float> logits, const SamplingParams& params, std::uint64_t t,
                    std::uint32_t choice) {
  if (params.greedy()) return argmax(logits);
  TokenId best = -1;
  double bestScore = 0;
  for (const Candidate& c : filterLogits(logits, params)) {
    const double u = uniform(params.seed, choice, t, c.token);
    // 1 - u <= -log u, so the noise is at most -log(1 - u). A token that cannot win with that needs no
    // logarithms; the margin covers the rounding of exp64.
    if (best >= 0 && 1.0 - u > exp64(c.score - bestScore) * 1.0000001) continue;
    const double score = c.score + gumbelOf(u);
    if (best < 0 || score > bestScore || (score == bestScore && c.token < best)) {
      best = c.token;
      bestScore = score;
    }
  }
  return best;
}

}  // namespace tandem
