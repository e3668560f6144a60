#include "engine/agreement/plain_run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "engine/agreement/reference_choice.h"
#include "engine/session/generator.h"

namespace tandem::agreement {
namespace {

// The next of `count` tokens. What the form allows is found by following the whole answer anew.
Result<TokenId> choiceAt(std::span<const float> logits, const SamplingParams& sampling,
                         std::span<const TokenId> prompt, std::span<const TokenId> answer,
                         const Constraint* form, int count) {
  if (!form) {
    const bool isPlain = sampling.greedy() && !sampling.changesScores();
    return isPlain ? highest(logits) : referenceChoice(logits, sampling, prompt, answer);
  }
  Matcher matcher = form->start();
  for (const TokenId token : answer)
    matcher.advance(token);
  const TokenMask& mask = matcher.mask(count - static_cast<int>(answer.size()));
  if (!matcher.status().ok()) return matcher.status().error();
  return referenceChoice(logits, sampling, prompt, answer, {}, &mask);
}

}  // namespace

Result<PlainRun> decodePlain(Decoder& decoder, std::span<const TokenId> prompt, int count,
                             bool endAtEndTokens, const std::atomic<bool>* cancel,
                             const SamplingParams& sampling, const Constraint* form) {
  const auto start = std::chrono::steady_clock::now();
  const Tokenizer& tokenizer = decoder.model().tokenizer();
  if (prompt.empty()) return Error{ErrorCode::kInvalidArgument, "the prompt is empty", "prompt"};
  if (Status s = tokenizer.check(prompt); !s.ok()) return s.error();
  const int contextLength = decoder.model().config().contextLength;
  if (Status s = checkContext(prompt.size() + static_cast<std::size_t>(count) - 1, contextLength); !s.ok())
    return s.error();

  if (form) {
    if (Status s = form->start().checkLength(count); !s.ok()) return s.error();
  }
  PlainRun run;
  Sequence sequence = decoder.newSequence();
  if (Status s = decoder.read(sequence, prompt, cancel); !s.ok()) return s.error();
  for (;;) {
    const std::span<const float> logits = decoder.logits(0);
    run.logits.emplace_back(logits.begin(), logits.end());
    run.before.push_back(sequence.fork());
    const auto token = choiceAt(logits, sampling, prompt, run.tokens, form, count);
    if (!token.ok()) return token.error();
    run.tokens.push_back(*token);
    if (run.end < 0 && tokenizer.isEndToken(*token)) run.end = static_cast<int>(run.tokens.size()) - 1;
    if (static_cast<int>(run.tokens.size()) == count || (endAtEndTokens && run.end >= 0)) break;
    if (Status s = decoder.read(sequence, std::span(&*token, 1), cancel); !s.ok()) return s.error();
  }
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return run;
}

TokenId highest(std::span<const float> logits) {
  return static_cast<TokenId>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

double topTwoGapUlps(std::span<const float> logits) {
  float best = -std::numeric_limits<float>::infinity(), second = best;
  for (const float score : logits) {
    if (score > best) {
      second = best;
      best = score;
    } else if (score > second) {
      second = score;
    }
  }
  constexpr int kSmallestBf16 = -133;  // exponent of the smallest number BF16 can hold
  const int exponent = best == 0 ? kSmallestBf16 : std::max(std::ilogb(best) - 7, kSmallestBf16);
  return std::ldexp(static_cast<double>(best) - static_cast<double>(second), -exponent);
}

}  // namespace tandem::agreement
