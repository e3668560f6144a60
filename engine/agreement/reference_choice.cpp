#include "engine/agreement/reference_choice.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "engine/kernels/math64.h"
#include "engine/sampler/sampler.h"

namespace tandem::agreement {
namespace {

using kernels::exp64;
using kernels::log64;

constexpr float kBarred = -std::numeric_limits<float>::infinity();

void penalise(std::vector<float>& scores, const SamplingParams& p, std::span<const TokenId> prompt,
              const std::vector<TokenId>& text) {
  const std::size_t window = static_cast<std::size_t>(p.penaltyWindow);
  const std::size_t first = window == 0 || window > text.size() ? 0 : text.size() - window;
  std::set<TokenId> seen;
  std::map<TokenId, int> answered;
  for (std::size_t i = first; i < text.size(); ++i) {
    seen.insert(text[i]);
    if (i >= prompt.size()) ++answered[text[i]];
  }
  for (const TokenId token : seen)
    scores[token] =
        scores[token] > 0 ? scores[token] / p.repetitionPenalty : scores[token] * p.repetitionPenalty;
  for (const auto& [token, times] : answered)
    scores[token] -= p.frequencyPenalty * static_cast<float>(times) + p.presencePenalty;
}

// Tokens that would complete a run of n that stood in the text before.
std::set<TokenId> completing(const std::vector<TokenId>& text, std::size_t n) {
  std::set<TokenId> found;
  for (std::size_t i = 0; n > 0 && i + n <= text.size(); ++i) {
    if (std::equal(text.begin() + i, text.begin() + i + n - 1, text.end() - (n - 1)))
      found.insert(text[i + n - 1]);
  }
  return found;
}

template <class Tokens>
void bar(std::vector<float>& scores, const Tokens& tokens) {
  const std::vector<float> before = scores;
  for (const TokenId token : tokens)
    scores[token] = kBarred;
  if (*std::max_element(scores.begin(), scores.end()) == kBarred) scores = before;
}

// The candidates that the filters leave, the likeliest first.
std::vector<Candidate> filtered(const std::vector<float>& scores, const SamplingParams& p) {
  const double highest = *std::max_element(scores.begin(), scores.end());
  std::vector<Candidate> kept;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] != kBarred)
      kept.push_back({static_cast<TokenId>(i), (scores[i] - highest) / static_cast<double>(p.temperature)});
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
  if (p.topK > 0 && static_cast<std::uint64_t>(p.topK) < kept.size()) kept.resize(p.topK);
  if (p.topP < 1) {
    double total = 0, sum = 0;
    for (const Candidate& c : kept)
      total += exp64(c.score);
    std::size_t count = 0;
    while (count < kept.size() && sum < static_cast<double>(p.topP) * total)
      sum += exp64(kept[count++].score);
    kept.resize(count);
  }
  if (p.minP > 0) std::erase_if(kept, [&](const Candidate& c) { return c.score < log64(p.minP); });
  return kept;
}

// The scores after penalties, biases and bars.
std::vector<float> changed(std::span<const float> logits, const SamplingParams& p,
                           std::span<const TokenId> prompt, std::span<const TokenId> answer,
                           std::span<const TokenId> barred, const TokenMask* mask) {
  std::vector<float> scores(logits.begin(), logits.end());
  std::vector<TokenId> text(prompt.begin(), prompt.end());
  text.insert(text.end(), answer.begin(), answer.end());
  penalise(scores, p, prompt, text);
  for (const TokenBias& b : p.logitBias)
    scores[b.token] += b.bias;
  for (std::size_t i = 0; mask && i < scores.size(); ++i)
    if (!mask->allows(static_cast<TokenId>(i))) scores[i] = kBarred;
  bar(scores, barred);
  bar(scores, completing(text, static_cast<std::size_t>(p.noRepeatNgramSize)));
  return scores;
}

}  // namespace

TokenId referenceChoice(std::span<const float> logits, const SamplingParams& p,
                        std::span<const TokenId> prompt, std::span<const TokenId> answer,
                        std::span<const TokenId> barred, const TokenMask* mask) {
  const std::vector<float> scores = changed(logits, p, prompt, answer, barred, mask);
  if (p.greedy())
    return static_cast<TokenId>(std::max_element(scores.begin(), scores.end()) - scores.begin());

  TokenId best = -1;
  double highest = 0;
  for (const Candidate& c : filtered(scores, p)) {
    const double score = c.score + gumbelNoise(p.seed, p.choice, answer.size(), c.token);
    if (best >= 0 && (score < highest || (score == highest && c.token > best))) continue;
    best = c.token;
    highest = score;
  }
  return best;
}

std::vector<double> referenceDistribution(std::span<const float> logits, const SamplingParams& p,
                                          std::span<const TokenId> prompt, std::span<const TokenId> answer,
                                          std::span<const TokenId> barred) {
  std::vector<double> probabilities(logits.size());
  const std::vector<Candidate> kept = filtered(changed(logits, p, prompt, answer, barred, nullptr), p);
  double total = 0;
  for (const Candidate& c : kept)
    total += exp64(c.score);
  for (const Candidate& c : kept)
    probabilities[c.token] = exp64(c.score) / total;
  return probabilities;
}

}  // namespace tandem::agreement
