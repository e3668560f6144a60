#include "engine/speculation/drafters/draft_model.h"

#include <algorithm>

namespace tandem {

DraftModelDrafter::DraftModelDrafter(DraftModel& model, Calibration& calibration,
                                     const SamplingParams* sampling)
    : ModelDrafter(calibration, sampling),
      model_(model),
      certain_(model.decoder().newSequence()),
      ahead_(model.decoder().newSequence()) {}

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
  failed_ = failed_ || sequence.length() + static_cast<int>(tokens.size()) > model_.contextLength() ||
            !model_.decoder().read(sequence, tokens).ok();
  return !failed_;
}

bool DraftModelDrafter::start() {
  chain_.clear();
  afterChain_.clear();
  if (pending_.empty()) return false;  // the logits of what follows are not there
  if (!forward(certain_, pending_)) return false;
  pending_.clear();
  ahead_ = certain_.fork();
  return true;
}

bool DraftModelDrafter::step(TokenId token) {
  if (!forward(ahead_, std::span(&token, 1))) return false;
  chain_.push_back(token);
  afterChain_.push_back(ahead_.fork());
  return true;
}

}  // namespace tandem
