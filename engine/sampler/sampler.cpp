#include "engine/sampler/sampler.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

#include "engine/kernels/kernel_set.h"
#include "engine/kernels/math64.h"
#include "engine/kernels/philox.h"

namespace tandem {
namespace {

using kernels::exp64;
using kernels::log64;

constexpr float kBarred = -std::numeric_limits<float>::infinity();
constexpr float kMostPenalty = 2.0f;     // of presence and frequency, as OpenAI's API has it
constexpr float kMostRepetition = 1e3f;  // keeps every score finite
constexpr float kMostBias = 100.0f;

Error refuse(const char* field, const std::string& what) {
  return {ErrorCode::kInvalidArgument, std::string(field) + " must be " + what, field};
}

// By score, then by id.
bool before(const Candidate& a, const Candidate& b) {
  return a.score != b.score ? a.score > b.score : a.token < b.token;
}

bool higher(std::span<const float> scores, TokenId a, TokenId b) {
  return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
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

// Those of at least p times the highest probability, whose score is 0.
void keepMinP(std::vector<Candidate>& kept, double p) {
  if (p <= 0) return;
  const double lowest = log64(p);
  std::erase_if(kept, [lowest](const Candidate& c) { return c.score < lowest; });
}

// The candidates of these tokens, without barred ones.
std::vector<Candidate> candidatesOf(std::span<const float> logits, std::span<const TokenId> tokens,
                                    float highest, float temperature) {
  std::vector<Candidate> kept;
  kept.reserve(tokens.size());
  for (const TokenId token : tokens)
    if (logits[token] != kBarred)
      kept.push_back({token, candidateScore(logits[token], highest, temperature)});
  return kept;
}

// What top_k, top_p and min_p leave of candidates that hold the top_k best; their highest score is 0.
std::vector<Candidate> filtered(std::vector<Candidate> kept, const SamplingParams& params) {
  keepTopK(kept, params.topK);
  if (params.topK > 0 || params.topP < 1) std::sort(kept.begin(), kept.end(), before);
  if (params.topP < 1) keepTopP(kept, params.topP);
  keepMinP(kept, params.minP);
  return kept;
}

Candidate withNoise(const Candidate& c, const SamplingParams& params, std::uint64_t t) {
  return {c.token, c.score + gumbelNoise(params.seed, params.choice, t, c.token)};
}

TokenId highestWithNoise(std::span<const Candidate> kept, const SamplingParams& params, std::uint64_t t) {
  Candidate best = withNoise(kept.front(), params, t);
  for (const Candidate& c : kept.subspan(1)) {
    const Candidate noisy = withNoise(c, params, t);
    if (before(noisy, best)) best = noisy;
  }
  return best.token;
}

// A number that at least k of the logits reach, or -infinity. Of k stretches each has its highest above the
// k-th of these; lowered so that no rounding of scores makes one below it equal to one above.
float reachedBy(std::span<const float> logits, std::int64_t k, float highest) {
  constexpr std::size_t kStretch = 128;
  const kernels::KernelSet& kernels = kernels::bestKernels();
  std::vector<float> highs;
  for (std::size_t at = 0; at < logits.size(); at += kStretch) {
    const auto stretch = logits.subspan(at, std::min(kStretch, logits.size() - at));
    highs.push_back(stretch[kernels.argmax(stretch.data(), static_cast<int>(stretch.size()))]);
  }
  if (k > static_cast<std::int64_t>(highs.size())) return -std::numeric_limits<float>::infinity();
  std::nth_element(highs.begin(), highs.begin() + (k - 1), highs.end(), std::greater<>());
  const float reached = highs[k - 1];
  return reached - (std::fabs(reached) + std::fabs(highest)) * 1e-6f;
}

// Tokens among which are those of the k highest scores, and more that barely miss them; in the order of ids.
std::vector<TokenId> aroundHighest(std::span<const float> scores, std::int64_t k, float highest) {
  std::vector<TokenId> tokens(scores.size());
  tokens.resize(kernels::bestKernels().atLeast(scores.data(), static_cast<int>(scores.size()),
                                               reachedBy(scores, k, highest), tokens.data()));
  return tokens;
}

Status checkBias(const std::vector<TokenBias>& biases, int vocabulary) {
  std::vector<TokenId> tokens;
  for (const TokenBias& b : biases) {
    if (b.token < 0 || b.token >= vocabulary)
      return refuse("logit_bias",
                    "of tokens in the vocabulary; " + std::to_string(b.token) + " is not in it");
    if (!(std::fabs(b.bias) <= kMostBias)) return refuse("logit_bias", "between -100 and 100");
    tokens.push_back(b.token);
  }
  std::sort(tokens.begin(), tokens.end());
  const auto twice = std::adjacent_find(tokens.begin(), tokens.end());
  if (twice == tokens.end()) return {};
  return refuse("logit_bias", "given once for a token; " + std::to_string(*twice) + " has two");
}

double gumbelOf(double u) {
  return -log64(-log64(u));
}

// The highest token, first, and all whose score with noise may be more than its own less `margin`, with their
// scores without noise. REQUIRES: !params.greedy()
std::vector<Candidate> contenders(std::span<const float> scores, const SamplingParams& params,
                                  std::uint64_t t, float margin) {
  const Candidate highest = {argmax(scores), 0.0};
  const double inverse = 1 / static_cast<double>(params.temperature);
  const kernels::Draw draw = {.highest = scores[highest.token],
                              .inverseTemperature = static_cast<float>(std::min(inverse, 1e30)),
                              .best = static_cast<float>(withNoise(highest, params, t).score) - margin,
                              .seed = params.seed,
                              .choice = params.choice,
                              .index = t};
  std::vector<TokenId> tokens(scores.size());
  tokens.resize(
      kernels::bestKernels().contenders(scores.data(), static_cast<int>(scores.size()), draw, tokens.data()));
  std::erase(tokens, highest.token);
  tokens.insert(tokens.begin(), highest.token);
  return candidatesOf(scores, tokens, draw.highest, params.temperature);
}

}  // namespace

Status checkSampling(const SamplingParams& p, int vocabulary) {
  if (!std::isfinite(p.temperature) || p.temperature < 0)
    return refuse("temperature", "a number of 0 or more");
  if (p.topK < 0) return refuse("top_k", "0 (no limit) or more");
  if (!(p.topP > 0 && p.topP <= 1)) return refuse("top_p", "above 0 and at most 1");
  if (!(p.minP >= 0 && p.minP <= 1)) return refuse("min_p", "between 0 and 1");
  if (!(p.repetitionPenalty >= 1 / kMostRepetition && p.repetitionPenalty <= kMostRepetition))
    return refuse("repetition_penalty", "between 0.001 and 1000");
  if (!(std::fabs(p.presencePenalty) <= kMostPenalty)) return refuse("presence_penalty", "between -2 and 2");
  if (!(std::fabs(p.frequencyPenalty) <= kMostPenalty))
    return refuse("frequency_penalty", "between -2 and 2");
  if (p.penaltyWindow < 0) return refuse("penalty_window", "0 (everything) or more");
  if (p.noRepeatNgramSize < 0) return refuse("no_repeat_ngram_size", "0 (off) or more");
  if (p.logprobs < -1 || p.logprobs > kMaxLogprobs) return refuse("logprobs", "between 0 and 20");
  return checkBias(p.logitBias, vocabulary);
}

std::uint64_t freshSeed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

TokenId argmax(std::span<const float> scores) {
  return kernels::bestKernels().argmax(scores.data(), static_cast<int>(scores.size()));
}

double uniformNoise(std::uint64_t seed, std::uint32_t choice, std::uint64_t t, TokenId token) {
  const kernels::PhiloxCounter counter = {static_cast<std::uint32_t>(token), static_cast<std::uint32_t>(t),
                                          static_cast<std::uint32_t>(t >> 32), choice};
  const kernels::PhiloxCounter random =
      kernels::philox(counter, {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  const std::uint64_t bits = (static_cast<std::uint64_t>(random[1]) << 32 | random[0]) >> 12;
  return (static_cast<double>(bits) + 0.5) * 0x1p-52;  // never 0 or 1
}

double gumbelNoise(std::uint64_t seed, std::uint32_t choice, std::uint64_t t, TokenId token) {
  return gumbelOf(uniformNoise(seed, choice, t, token));
}

double candidateScore(float score, float highest, float temperature) {
  return (score - static_cast<double>(highest)) / static_cast<double>(temperature);
}

bool keptByMinP(float score, float highest, const SamplingParams& params) {
  return candidateScore(score, highest, params.temperature) >= log64(params.minP);
}

std::vector<TokenId> highestTokens(std::span<const float> scores, int count) {
  std::vector<TokenId> tokens = aroundHighest(scores, count, scores[argmax(scores)]);
  std::erase_if(tokens, [&](TokenId token) { return scores[token] == kBarred; });
  std::sort(tokens.begin(), tokens.end(), [&](TokenId a, TokenId b) { return higher(scores, a, b); });
  tokens.resize(std::min(tokens.size(), static_cast<std::size_t>(count)));
  return tokens;
}

std::vector<Candidate> filterLogits(std::span<const float> scores, const SamplingParams& params) {
  const float highest = scores[argmax(scores)];
  std::vector<TokenId> tokens;
  if (params.topK > 0 && static_cast<std::uint64_t>(params.topK) < scores.size()) {
    tokens = aroundHighest(scores, params.topK, highest);
  } else {
    tokens.resize(scores.size());
    std::iota(tokens.begin(), tokens.end(), 0);
  }
  return filtered(candidatesOf(scores, tokens, highest, params.temperature), params);
}

TokenId chooseAmong(std::span<const float> scores, std::span<const TokenId> tokens,
                    const SamplingParams& params, std::uint64_t t) {
  const TokenId best = *std::min_element(tokens.begin(), tokens.end(),
                                         [&](TokenId a, TokenId b) { return higher(scores, a, b); });
  if (params.greedy()) return best;
  const float highest = scores[best];
  return highestWithNoise(filtered(candidatesOf(scores, tokens, highest, params.temperature), params), params,
                          t);
}

std::vector<TokenId> drawOrder(std::span<const float> scores, const SamplingParams& params, std::uint64_t t) {
  constexpr float kMargin = 3;  // some ten to some hundred tokens
  std::vector<Candidate> drawn = contenders(scores, params, t, kMargin);
  for (Candidate& c : drawn)
    c = withNoise(c, params, t);
  const double lowest = drawn.front().score - static_cast<double>(kMargin);
  std::erase_if(drawn, [lowest](const Candidate& c) { return c.score <= lowest; });
  std::sort(drawn.begin(), drawn.end(), before);
  std::vector<TokenId> tokens;
  for (const Candidate& c : drawn)
    tokens.push_back(c.token);
  return tokens;
}

TokenId chooseToken(std::span<const float> scores, const SamplingParams& params, std::uint64_t t) {
  if (params.greedy()) return argmax(scores);
  if (params.topK > 0 || params.topP < 1) return highestWithNoise(filterLogits(scores, params), params, t);
  std::vector<Candidate> kept = contenders(scores, params, t, 0);
  keepMinP(kept, params.minP);
  return highestWithNoise(kept, params, t);
}

}  // namespace tandem
