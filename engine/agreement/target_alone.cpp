#include "engine/agreement/target_alone.h"

#include <numeric>

#include "engine/agreement/reference_choice.h"

namespace tandem::agreement {

Status TargetAlone::usePrompt(std::vector<TokenId> prompt, const std::atomic<bool>* cancel) {
  prompt_ = std::move(prompt);
  base_ = decoder_.newSequence();
  if (Status s = decoder_.read(base_, prompt_, cancel); !s.ok()) return s;
  first_.assign(decoder_.logits(0).begin(), decoder_.logits(0).end());
  return {};
}

Result<std::vector<TokenId>> TargetAlone::draw(const SamplingParams& sampling, int tokens,
                                               const std::atomic<bool>* cancel) {
  std::vector<TokenId> answer;
  Sequence sequence = base_.fork();
  for (std::span<const float> logits = first_;; logits = decoder_.logits(0)) {
    answer.push_back(referenceChoice(logits, sampling, prompt_, answer));
    const bool ends = decoder_.model().tokenizer().isEndToken(answer.back());
    if (ends || static_cast<int>(answer.size()) == tokens) return answer;
    if (Status s = decoder_.read(sequence, std::span(&answer.back(), 1), cancel); !s.ok()) return s.error();
  }
}

double TargetAlone::placeOf(std::span<const float> logits, const std::vector<TokenId>& answer,
                            std::size_t index, const SamplingParams& sampling) {
  const std::vector<double> p =
      referenceDistribution(logits, sampling, prompt_, std::span(answer).first(index));
  const double own = p[static_cast<std::size_t>(answer[index])];
  const double below = std::accumulate(p.begin(), p.begin() + answer[index], 0.0);
  const double part = std::uniform_real_distribution<double>()(dice_);
  return own > 0 ? below + part * own : -1;
}

Result<std::vector<double>> TargetAlone::placesOf(const std::vector<TokenId>& answer,
                                                  const SamplingParams& sampling,
                                                  const std::atomic<bool>* cancel) {
  std::vector<double> places = {placeOf(first_, answer, 0, sampling)};
  Sequence sequence = base_.fork();
  for (std::size_t at = 1; at < answer.size();) {
    // Row i holds the logits behind token at - 1 + i.
    const std::size_t rows = std::min(answer.size() - at, static_cast<std::size_t>(decoder_.maxRows()));
    const Batch batch = Batch::chain(std::span(answer).subspan(at - 1, rows), sequence.length());
    std::vector<int> all(rows);
    std::iota(all.begin(), all.end(), 0);
    if (Status s = decoder_.forward(sequence, batch, all, cancel); !s.ok()) return s.error();
    for (std::size_t row = 0; row < rows; ++row)
      places.push_back(placeOf(decoder_.logits(static_cast<int>(row)), answer, at + row, sampling));
    if (Status s = decoder_.commit(sequence, all); !s.ok()) return s.error();
    at += rows;
  }
  return places;
}

}  // namespace tandem::agreement
