#include "engine/sampler/chooser.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/sampler/sampler.h"

namespace tandem {
namespace {

constexpr float kBarred = -std::numeric_limits<float>::infinity();

}  // namespace

Chooser::Chooser(SamplingParams sampling, int minTokens, std::vector<TokenId> ends)
    : sampling_(std::move(sampling)),
      minTokens_(minTokens),
      ends_(std::move(ends)),
      history_(sampling_.penaltyWindow, sampling_.noRepeatNgramSize) {}

bool Chooser::takesHighest() const {
  return sampling_.greedy() && !sampling_.changesScores() && !barsEnds();
}

TokenId Chooser::choose(std::span<const float> logits) {
  return chooseToken(scores(logits), sampling_, answered());
}

std::span<const float> Chooser::scores(std::span<const float> logits) {
  if (!sampling_.changesScores() && !barsEnds()) return logits;
  scores_.assign(logits.begin(), logits.end());
  penalise();
  for (const TokenBias& b : sampling_.logitBias)
    scores_[b.token] += b.bias;
  bar();
  return scores_;
}

ChosenLogprobs Chooser::logprobs(std::span<const float> logits, TokenId chosen) {
  return logprobsOf(scores(logits), sampling_, chosen);
}

void Chooser::penalise() {
  if (!sampling_.penalises()) return;
  for (const auto& [token, count] : history_.counts()) {
    float& score = scores_[token];
    score = score > 0 ? score / sampling_.repetitionPenalty : score * sampling_.repetitionPenalty;
    if (count.answer > 0)
      score -= sampling_.frequencyPenalty * static_cast<float>(count.answer) + sampling_.presencePenalty;
  }
}

void Chooser::bar() {
  if (barsEnds()) barUnlessAll(ends_);
  barUnlessAll(history_.followers());
}

// Bars these tokens, unless nothing would be left to choose.
void Chooser::barUnlessAll(std::span<const TokenId> tokens) {
  if (tokens.empty()) return;
  std::vector<float> before;
  for (const TokenId token : tokens) {
    before.push_back(scores_[token]);
    scores_[token] = kBarred;
  }
  if (scores_[argmax(scores_)] != kBarred) return;
  for (std::size_t i = tokens.size();
       i-- > 0;)  // backwards: a token that comes twice was right the first time
    scores_[tokens[i]] = before[i];
}

}  // namespace tandem
