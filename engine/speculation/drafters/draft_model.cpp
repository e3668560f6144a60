#include "engine/speculation/drafters/draft_model.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

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

std::vector<float> DraftModelDrafter::priors() {
  std::vector<float> priors;
  for (int rank = 0; rank < kRanks; ++rank) {
    for (int range = 0; range < kRanges; ++range) {
      const float middle = (static_cast<float>(range) + 0.5f) / kRanges;
      priors.push_back(rank == 0 ? 0.15f + 0.8f * middle : 0.6f * middle);
    }
  }
  return priors;
}

DraftModelDrafter::DraftModelDrafter(DraftModel& model, Calibration& calibration)
    : model_(model), calibration_(calibration), certain_(model.decoder().newSequence()) {}

void DraftModelDrafter::append(std::span<const TokenId> tokens) {
  if (tokens.empty()) return;
  // What the chain guessed right has been read already.
  std::size_t right = 0;
  if (pending_.empty()) {
    // The last one is read again: its logits are needed.
    const std::size_t most = std::min({tokens.size() - 1, chain_.size(), afterChain_.size()});
    while (right < most && tokens[right] == chain_[right])
      ++right;
    if (right > 0) certain_ = std::move(afterChain_[right - 1]);
  }
  chain_.clear();
  afterChain_.clear();
  pending_.insert(pending_.end(), tokens.begin() + static_cast<std::ptrdiff_t>(right), tokens.end());
}

// Reads tokens; the logits after the last one are there afterwards.
bool DraftModelDrafter::forward(Sequence& sequence, std::span<const TokenId> tokens) {
  Decoder& decoder = model_.decoder();
  while (!tokens.empty() && !failed_) {
    const int count = std::min<int>(decoder.maxRows(), static_cast<int>(tokens.size()));
    if (sequence.length() + count > model_.contextLength()) failed_ = true;
    if (failed_) return false;
    const Batch batch = Batch::chain(tokens.first(count), sequence.length());
    const int last = count - 1;
    std::vector<int> rows(count);
    std::iota(rows.begin(), rows.end(), 0);
    failed_ =
        !decoder.forward(sequence, batch, std::span(&last, 1)).ok() || !decoder.commit(sequence, rows).ok();
    tokens = tokens.subspan(count);
  }
  return !failed_;
}

bool DraftModelDrafter::catchUp() {
  if (pending_.empty()) return false;  // the logits of what follows are not there
  if (!forward(certain_, pending_)) return false;
  pending_.clear();
  return true;
}

// The likeliest tokens after what was read last, best first.
std::vector<DraftModelDrafter::Guess> DraftModelDrafter::guesses(int most) const {
  const std::span<const float> logits = model_.decoder().logits(0);
  std::vector<int> order;  // the best ones so far
  for (int i = 0; i < static_cast<int>(logits.size()); ++i) {
    if (static_cast<int>(order.size()) == most && logits[i] <= logits[order.back()]) continue;
    if (static_cast<int>(order.size()) == most) order.pop_back();
    const auto place = std::find_if(order.begin(), order.end(), [&](int o) { return logits[o] < logits[i]; });
    order.insert(place, i);
  }
  double sum = 0;
  for (const float logit : logits) {
    if (logit > logits[order[0]] - 16) sum += std::exp(logit - logits[order[0]]);
  }
  std::vector<Guess> result;
  for (int rank = 0; rank < static_cast<int>(order.size()); ++rank) {
    const double p = std::exp(logits[order[rank]] - logits[order[0]]) / sum;
    const int evidence = evidenceOf(rank, p);
    result.push_back({order[rank], calibration_.probability(evidence), evidence});
  }
  return result;
}

Draft DraftModelDrafter::propose(const DraftBudget& budget) {
  Draft draft;
  chain_.clear();
  afterChain_.clear();
  asked_.clear();
  if (budget.nodes < 1 || budget.depth < 1 || !catchUp()) return draft;
  Sequence sequence = certain_.fork();
  double joint = 1;
  for (int parent = -1;;) {
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
    chain_.push_back(here[0].token);
    if (draft.size() >= budget.nodes || static_cast<int>(chain_.size()) >= budget.depth) break;
    const auto start = std::chrono::steady_clock::now();
    if (!forward(sequence, std::span(&chain_.back(), 1))) break;
    const double ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    passMs_ = passMs_ == 0 ? ms : passMs_ + 0.2 * (ms - passMs_);
    afterChain_.push_back(sequence.fork());
  }
  return draft;
}

void DraftModelDrafter::observe(std::span<const TokenId> followed) {
  for (std::size_t i = 0; i < std::min(followed.size(), asked_.size()); ++i) {
    for (const Guess& guess : asked_[i])
      calibration_.observe(guess.evidence, guess.token == followed[i]);
    if (asked_[i].empty() || asked_[i][0].token != followed[i]) break;
  }
  asked_.clear();
}

double DraftModelDrafter::cost(const DraftBudget& budget) const {
  return passMs_ * std::min(budget.nodes, budget.depth);
}

}  // namespace tandem
