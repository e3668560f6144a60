#include "engine/speculation/drafters/model_drafter.h"

#include <algorithm>
#include <cmath>

#include "engine/base/stopwatch.h"
#include "engine/speculation/rejection.h"

namespace tandem {
namespace {

constexpr int kRanks = 3;  // the best token, the second, and the others
constexpr int kRanges = 10;
constexpr int kBranches = 4;  // of a node of a tree, at most

constexpr int kClasses = kRanks * kRanges;
constexpr std::int64_t kContenders = 64;                 // of the best tokens so many are looked at
constexpr std::uint64_t kOwnNoise = 0x9E3779B97F4A7C15;  // turns the seed into another one

int evidenceOf(int rank, double probability, bool sampled) {
  return (sampled ? kClasses : 0) + std::min(rank, kRanks - 1) * kRanges +
         std::min(kRanges - 1, static_cast<int>(probability * kRanges));
}

// The tokens that the target would choose of these scores: by score, or by score and noise. Best first.
std::vector<Candidate> ranked(std::span<const float> scores, const SamplingParams* sampling,
                              std::uint64_t index) {
  SamplingParams own;
  own.temperature = 1;
  if (sampling) own = *sampling;
  own.topK = own.topK == 0 ? kContenders : std::min(own.topK, kContenders);
  std::vector<Candidate> best = filterLogits(scores, own);
  if (!sampling) return best;
  for (Candidate& c : best)
    c.score += gumbelNoise(own.seed, own.choice, index, c.token);
  std::ranges::sort(best, [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
  return best;
}

}  // namespace

std::vector<float> ModelDrafter::priors() {
  std::vector<float> priors;
  for (int i = 0; i < 2 * kClasses; ++i) {
    const float middle = (static_cast<float>(i % kRanges) + 0.5f) / kRanges;
    priors.push_back(i / kRanges % kRanks == 0 ? 0.15f + 0.8f * middle : 0.6f * middle);
  }
  return priors;
}

// The best tokens after what was read last, and how far each stands out.
std::vector<ModelDrafter::Guess> ModelDrafter::guesses(int most, std::uint64_t index, Draft& draft) const {
  if (sampling_ && sampling_->sampler == Sampler::kRejection) return drawn(index, draft);
  const std::vector<Candidate> best = ranked(logits(), sampling_, index);
  double sum = 0;
  for (const Candidate& c : best)
    sum += std::exp(c.score - best[0].score);
  std::vector<Guess> result;
  for (int rank = 0; rank < std::min(most, static_cast<int>(best.size())); ++rank) {
    const double p = std::exp(best[rank].score - best[0].score) / sum;
    const int evidence = evidenceOf(rank, p, sampling_ != nullptr);
    result.push_back({best[rank].token, calibration_.probability(evidence), evidence});
  }
  return result;
}

// One guess, drawn from the model's distribution, which goes into the draft.
std::vector<ModelDrafter::Guess> ModelDrafter::drawn(std::uint64_t index, Draft& draft) const {
  SamplingParams own = *sampling_;
  own.seed ^= kOwnNoise;
  const TokenId token = chooseToken(logits(), own, index);
  draft.proposals.push_back(distributionOf(logits(), own));
  const auto at = std::ranges::lower_bound(draft.proposals.back(), token, {}, &TokenProbability::token);
  const int evidence = evidenceOf(0, at->probability, true);
  return {{token, calibration_.probability(evidence), evidence}};
}

Draft ModelDrafter::propose(const DraftBudget& budget) {
  Draft draft;
  asked_.clear();
  if (budget.nodes < 1 || budget.depth < 1 || !start()) return draft;
  double joint = 1;
  int parent = -1;
  for (int depth = 1;; ++depth) {
    asked_.push_back(guesses(budget.tree ? kBranches : 1, budget.index + depth - 1, draft));
    const std::vector<Guess>& here = asked_.back();
    // Leaves first, so that what follows the best token stands last and the order is depth-first.
    for (std::size_t i = here.size(); i-- > 1;) {
      if (draft.size() + 1 < budget.nodes && joint * here[i].probability >= std::max(budget.least, 0.02))
        draft.add(here[i].token, parent, here[i].probability, origin());
    }
    joint *= here[0].probability;
    if (joint < budget.least) break;
    parent = draft.add(here[0].token, parent, here[0].probability, origin());
    if (draft.size() >= budget.nodes || depth >= budget.depth) break;
    const Stopwatch watch;
    if (!step(here[0].token)) break;
    const double ms = watch.ms();
    passMs_ = passMs_ == 0 ? ms : passMs_ + 0.2 * (ms - passMs_);
  }
  return draft;
}

void ModelDrafter::observe(std::span<const TokenId> followed) {
  for (std::size_t i = 0; i < std::min(followed.size(), asked_.size()); ++i) {
    for (const Guess& guess : asked_[i])
      calibration_.observe(guess.evidence, guess.token == followed[i]);
    if (asked_[i].empty() || asked_[i][0].token != followed[i]) break;
  }
  asked_.clear();
}

double ModelDrafter::cost(const DraftBudget& budget) const {
  return passMs_ * std::min(budget.nodes, budget.depth);
}

}  // namespace tandem
