#include "tests/session/drafted_text.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/agreement/reference_choice.h"
#include "engine/sampler/sampler.h"
#include "engine/speculation/rejection.h"

namespace tandem::test {
namespace {

using Ids = std::vector<TokenId>;

// By the last two tokens.
const std::vector<float>& tableRow(TokenId before, TokenId last) {
  static const auto table = [] {
    std::array<std::vector<float>, kSixTokens * kSixTokens> rows;
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (int token = 0; token < kSixTokens; ++token)
        rows[i].push_back(1.5f * std::cos(static_cast<float>(7 * i + 5 * token + i * token)));
    return rows;
  }();
  return table[before * kSixTokens + last];
}

// Guesses the likeliest token and one other, below each other or beside each other.
void grow(Draft& draft, Ids& text, int parent, int depth, bool tree) {
  const std::vector<float> logits = sixLogits(text);
  const TokenId best = argmax(logits);
  const TokenId other = (best + 1 + static_cast<TokenId>(text.size() % 5)) % kSixTokens;
  for (const TokenId guess : {best, other}) {
    const int node = draft.add(guess, parent, 0.3f, TokenOrigin::kRandom);
    text.push_back(guess);
    if (depth > 1) grow(draft, text, node, depth - 1, tree);
    text.pop_back();
    if (!tree) return;
  }
}

// Guesses drawn from a flatter model.
Draft drawnChain(Ids text, SamplingParams params, std::uint64_t index) {
  params = {.temperature = 2, .seed = params.seed + 1000, .choice = params.choice};
  Draft draft;
  for (int node = -1; node < 3; ++node) {
    const std::vector<float> logits = sixLogits(text);
    text.push_back(chooseToken(logits, params, index++));
    draft.add(text.back(), node, 0.3f, TokenOrigin::kRandom);
    draft.proposals.push_back(distributionOf(logits, params));
  }
  return draft;
}

Draft draftAfter(Ids text, Drafts drafts, const SamplingParams& params, std::uint64_t index) {
  if (drafts == Drafts::kDrawnChain) return drawnChain(std::move(text), params, index);
  Draft draft;
  if (drafts != Drafts::kNone)
    grow(draft, text, -1, drafts == Drafts::kTree ? 2 : 4, drafts == Drafts::kTree);
  return draft;
}

// What stands before the row of a node.
Ids pathOf(const Draft& draft, int node, const Ids& certain) {
  Ids path;
  for (int n = node; n >= 0; n = draft.nodes[n].parent)
    path.push_back(draft.nodes[n].token);
  path.insert(path.end(), certain.rbegin(), certain.rend());
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace

std::vector<float> sixLogits(const Ids& text) {
  return tableRow(text.size() < 2 ? 0 : text[text.size() - 2], text.back());
}

Ids draftedText(const SamplingParams& params, const Ids& prompt, int tokens, Drafts drafts,
                ChoiceFault fault) {
  Chooser chooser(params, 0, {});
  chooser.begin(prompt);
  Ids text = prompt, unpushed;
  const auto left = [&] { return tokens - static_cast<int>(text.size() - prompt.size()); };
  for (Draft draft; left() > 0; draft = draftAfter(text, drafts, params, chooser.answered())) {
    const Ids certain = text;
    const auto choose = [&](int node) {
      const std::vector<float> logits = sixLogits(pathOf(draft, node, certain));
      if (fault == ChoiceFault::kNoiseOfAnotherIndex)
        return chooseToken(chooser.scores(logits), params, static_cast<std::uint64_t>(node + 1));
      if (params.sampler == Sampler::kRejection) {
        const auto scores = chooser.scores(logits);
        const TokenId token = rejectionChoice(draft, node, scores, params, chooser.answered());
        const bool rejected = node + 1 < draft.size() && token != draft.nodes[node + 1].token;
        return rejected && fault == ChoiceFault::kRestIsAll ? chooseToken(scores, params, chooser.answered())
                                                            : token;
      }
      if (fault != ChoiceFault::kPenaltyOfAnotherRow || chooser.answered() == 0)
        return chooser.choose(logits);
      chooser.pop();
      const std::vector<float> scores(chooser.scores(logits).begin(), chooser.scores(logits).end());
      chooser.push(text.back());
      return chooseToken(scores, params, chooser.answered());
    };
    const auto take = [&](TokenId token) {
      text.push_back(token);
      unpushed.push_back(token);
      if (fault != ChoiceFault::kForgottenPath) {
        chooser.push(token);
        unpushed.clear();
      }
      return left() == 0;
    };
    acceptDraft(draft, choose, take);
    for (const TokenId token : unpushed)
      chooser.push(token);
    unpushed.clear();
  }
  return Ids(text.begin() + static_cast<std::ptrdiff_t>(prompt.size()), text.end());
}

Ids referenceText(const SamplingParams& params, const Ids& prompt, int tokens) {
  Ids text = prompt, answer;
  while (static_cast<int>(answer.size()) < tokens) {
    answer.push_back(agreement::referenceChoice(sixLogits(text), params, prompt, answer));
    text.push_back(answer.back());
  }
  return answer;
}

std::vector<double> exactDistribution(const SamplingParams& params, const Ids& prompt, int tokens) {
  std::vector<Ids> answers = {{}};
  std::vector<double> all = {1};
  for (int t = 0; t < tokens; ++t) {
    std::vector<Ids> longer;
    std::vector<double> next;
    for (std::size_t a = 0; a < answers.size(); ++a) {
      Ids text = prompt;
      text.insert(text.end(), answers[a].begin(), answers[a].end());
      const auto here = agreement::referenceDistribution(sixLogits(text), params, prompt, answers[a]);
      for (TokenId token = 0; token < kSixTokens; ++token) {
        longer.push_back(answers[a]);
        longer.back().push_back(token);
        next.push_back(all[a] * here[token]);
      }
    }
    answers = std::move(longer);
    all = std::move(next);
  }
  return all;
}

}  // namespace tandem::test
