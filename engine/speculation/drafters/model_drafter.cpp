#include "engine/speculation/drafters/model_drafter.h"

#include <algorithm>
#include <cmath>

#include "engine/base/stopwatch.h"

namespace tandem {
namespace {

constexpr int kRanks = 3;  // the best token, the second, and the others
constexpr int kRanges = 10;
constexpr int kBranches = 4;  // of a node of a tree, at most

int evidenceOf(int rank, double probability) {
  return std::min(rank, kRanks - 1) * kRanges +
         std::min(kRanges - 1, static_cast<int>(probability * kRanges));
}

}  // namespace

std::vector<float> ModelDrafter::priors() {
  std::vector<float> priors;
  for (int rank = 0; rank < kRanks; ++rank) {
    for (int range = 0; range < kRanges; ++range) {
      const float middle = (static_cast<float>(range) + 0.5f) / kRanges;
      priors.push_back(rank == 0 ? 0.15f + 0.8f * middle : 0.6f * middle);
    }
  }
  return priors;
}

// The likeliest tokens after what was read last, best first.
std::vector<ModelDrafter::Guess> ModelDrafter::guesses(int most) const {
  const std::span<const float> scores = logits();
  std::vector<int> order;  // the best ones so far
  for (int i = 0; i < static_cast<int>(scores.size()); ++i) {
    if (static_cast<int>(order.size()) == most && scores[i] <= scores[order.back()]) continue;
    if (static_cast<int>(order.size()) == most) order.pop_back();
    const auto place = std::find_if(order.begin(), order.end(), [&](int o) { return scores[o] < scores[i]; });
    order.insert(place, i);
  }
  double sum = 0;
  for (const float score : scores) {
    if (score > scores[order[0]] - 16) sum += std::exp(score - scores[order[0]]);
  }
  std::vector<Guess> result;
  for (int rank = 0; rank < static_cast<int>(order.size()); ++rank) {
    const double p = std::exp(scores[order[rank]] - scores[order[0]]) / sum;
    const int evidence = evidenceOf(rank, p);
    result.push_back({order[rank], calibration_.probability(evidence), evidence});
  }
  return result;
}

Draft ModelDrafter::propose(const DraftBudget& budget) {
  Draft draft;
  asked_.clear();
  if (budget.nodes < 1 || budget.depth < 1 || !start()) return draft;
  double joint = 1;
  int parent = -1;
  for (int depth = 1;; ++depth) {
    asked_.push_back(guesses(budget.tree ? kBranches : 1));
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
