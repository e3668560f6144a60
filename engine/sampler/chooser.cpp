#include "engine/sampler/chooser.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/sampler/sampler.h"

namespace tandem {
namespace {

constexpr float kBarred = -std::numeric_limits<float>::infinity();
constexpr TokenId kUntold = -1;
constexpr int kTried = 32;  // tokens beyond the needed ones that are tried before the mask is made
constexpr std::size_t kFewAllowed = 4096;
constexpr std::int64_t kFewTopK = 128;  // with a larger top_k the mask is cheaper

}  // namespace

Chooser::Chooser(SamplingParams sampling, int minTokens, std::vector<TokenId> ends)
    : sampling_(std::move(sampling)),
      minTokens_(minTokens),
      ends_(std::move(ends)),
      history_(sampling_.penaltyWindow, sampling_.noRepeatNgramSize) {}

bool Chooser::takesHighest() const {
  return sampling_.greedy() && !sampling_.changesScores() && !barsEnds() && !constrained();
}

void Chooser::constrain(Matcher matcher, int tokensLeft) {
  matchers_.assign(1, std::move(matcher));
  tokensLeft_ = tokensLeft;
}

// A matcher that gave up refuses what may be allowed: a choice by what it still allows means nothing.
const Status& Chooser::status() const {
  return constrained() && !matchers_.back().status().ok() ? matchers_.back().status() : status_;
}

void Chooser::push(TokenId token) {
  history_.push(token);
  if (!constrained()) return;
  // A token that was not allowed (a draft's) leaves the matcher where it is; nothing is chosen behind it.
  matchers_.push_back(matchers_.back());
  matchers_.back().advance(token);
}

void Chooser::pop() {
  history_.pop();
  if (matchers_.size() > 1) matchers_.pop_back();
}

TokenId Chooser::choose(std::span<const float> logits) {
  return constrained() ? chooseConstrained(logits) : chooseToken(scores(logits), sampling_, answered());
}

// The highest of the allowed tokens, or kUntold where it is not among those tried.
TokenId Chooser::highestByTrying(std::span<const float> unmasked) {
  const TokenId highest = argmax(unmasked);
  if (allows(highest)) return highest;
  for (const TokenId token : highestTokens(unmasked, kTried))
    if (allows(token)) return token;
  return kUntold;
}

// As many of the highest allowed tokens as top_k keeps, and those whose score is the same as the last one's:
// among them the choice is that among all allowed ones. Gives up where few of those tried are allowed.
TokenId Chooser::topKByTrying(std::span<const float> unmasked) {
  const auto k = static_cast<int>(sampling_.topK);
  for (const int reach : {2 * k + kTried, 16 * k + kTried}) {
    std::vector<TokenId> allowed;
    const auto scoreOf = [&](TokenId token) {
      return candidateScore(unmasked[token], unmasked[allowed.front()], sampling_.temperature);
    };
    for (const TokenId token : highestTokens(unmasked, reach)) {
      if (std::ssize(allowed) >= k && scoreOf(token) < scoreOf(allowed[k - 1]))
        return chooseAmong(unmasked, allowed, sampling_, answered());
      if (allows(token)) allowed.push_back(token);
    }
    if (std::ssize(allowed) < k / 2) break;
  }
  return kUntold;
}

// The first allowed token in the order of drawing. min_p measures from the highest allowed one.
TokenId Chooser::drawnByTrying(std::span<const float> unmasked) {
  if (sampling_.minP == 0 || allows(argmax(unmasked))) {
    const TokenId token = chooseToken(unmasked, sampling_, answered());
    if (allows(token)) return token;
  }
  std::vector<TokenId> order = drawOrder(unmasked, sampling_, answered());
  if (sampling_.minP > 0) {
    const TokenId highest = highestByTrying(unmasked);
    if (highest == kUntold) return kUntold;
    std::erase_if(order,
                  [&](TokenId token) { return !keptByMinP(unmasked[token], unmasked[highest], sampling_); });
  }
  const auto drawn = std::find_if(order.begin(), order.end(), [&](TokenId token) { return allows(token); });
  return drawn == order.end() ? kUntold : *drawn;
}

// The choice among the allowed tokens, or kUntold where the mask must tell it.
TokenId Chooser::chooseByTrying(std::span<const float> unmasked) {
  if (sampling_.greedy()) return highestByTrying(unmasked);
  if (sampling_.topK > 0) return sampling_.topK <= kFewTopK ? topKByTrying(unmasked) : kUntold;
  return sampling_.topP < 1 ? kUntold : drawnByTrying(unmasked);
}

// The choice where the mask allows few tokens and bars leave one of them, or else kUntold.
TokenId Chooser::chooseOfFew(std::span<const float> unmasked) {
  const TokenMask& mask = matchers_.back().mask(tokensLeft());
  if (mask.count() > kFewAllowed) return kUntold;
  std::vector<TokenId> allowed;
  mask.forEach([&](TokenId token) {
    if (unmasked[token] != kBarred) allowed.push_back(token);
  });
  return allowed.empty() ? kUntold : chooseAmong(unmasked, allowed, sampling_, answered());
}

TokenId Chooser::chooseConstrained(std::span<const float> logits) {
  std::span<const float> unmasked = logits;
  if (sampling_.changesScores() || barsEnds()) {
    changeScores(logits, false);
    unmasked = scores_;
  }
  if (const TokenId token = chooseByTrying(unmasked); token != kUntold) return token;
  if (const TokenId token = chooseOfFew(unmasked); token != kUntold) return token;
  const std::span<const float> masked = scores(logits);
  const TokenId highest = argmax(masked);
  if (masked[highest] == kBarred) {
    status_ = Error{ErrorCode::kInternal, "The answer's form allows no token here.", "constraint"};
    return highest;
  }
  return sampling_.greedy() ? highest : chooseToken(masked, sampling_, answered());
}

std::span<const float> Chooser::scores(std::span<const float> logits) {
  if (!sampling_.changesScores() && !barsEnds() && !constrained()) return logits;
  changeScores(logits, constrained());
  return scores_;
}

void Chooser::changeScores(std::span<const float> logits, bool masked) {
  scores_.assign(logits.begin(), logits.end());
  penalise();
  for (const TokenBias& b : sampling_.logitBias)
    scores_[b.token] += b.bias;
  if (masked) mask();
  bar();
}

// Takes out what the constraint does not allow.
void Chooser::mask() {
  const TokenMask& allowed = matchers_.back().mask(tokensLeft());
  for (std::size_t i = 0; i < scores_.size(); i += 64) {
    const std::uint64_t word = i < allowed.size() ? allowed.words()[i / 64] : 0;
    if (word == ~std::uint64_t{0}) continue;
    const std::size_t end = std::min(scores_.size(), i + 64);
    for (std::size_t token = i; token < end; ++token)
      if ((word >> (token - i) & 1) == 0) scores_[token] = kBarred;
  }
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
