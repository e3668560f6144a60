#include "engine/agreement/row_comparison.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace tandem::agreement {

std::uint64_t differingBits(std::span<const float> a, std::span<const float> b) {
  const std::size_t common = std::min(a.size(), b.size());
  std::uint64_t bits = 32 * (std::max(a.size(), b.size()) - common);
  for (std::size_t i = 0; i < common; ++i)
    bits += std::popcount(std::bit_cast<std::uint32_t>(a[i]) ^ std::bit_cast<std::uint32_t>(b[i]));
  return bits;
}

RowComparison::RowComparison(Decoder& reference, const PlainRun& plain, const GateOptions& options,
                             std::uint64_t seed, CellResult& result)
    : reference_(reference), plain_(plain), options_(options), result_(result), random_(seed) {}

void RowComparison::onChosen(TokenId token, std::span<const float> logits) {
  const auto index = static_cast<std::size_t>(chosen_++);
  // Behind a difference the two answers are different texts: their rows have nothing in common.
  if (!same_ || index >= plain_.tokens.size()) return;
  result_.differingBits += differingBits(logits, plain_.logits[index]);
  ++result_.acceptedRows;
  same_ = token == plain_.tokens[index];
}

void RowComparison::onVerified(const VerifiedRound& round) {
  const bool rejects = round.acceptance.path.size() < round.draft.nodes.size();
  const int first = firstOfRound_;
  const bool comparable = sameAtRound_ && static_cast<std::size_t>(first) < plain_.before.size();
  firstOfRound_ = chosen_;
  sameAtRound_ = same_;
  if (!rejects || !comparable || !status_.ok() || !drawn()) return;
  status_ = compareRejected(round, first);
}

// Draws one round in options_.rejectedPeriod, on average.
bool RowComparison::drawn() {
  if (--roundsToNext_ > 0) return false;
  const auto span = static_cast<std::uint64_t>(2 * options_.rejectedPeriod - 1);
  roundsToNext_ = 1 + static_cast<int>(random_() % span);
  return true;
}

// Walks the draft node by node, each from its parent's sequence, and compares the rejected ones. The sequence
// of an accepted node is the plain run's own.
Status RowComparison::compareRejected(const VerifiedRound& round, int firstToken) {
  const std::vector<DraftNode>& nodes = round.draft.nodes;
  std::vector<std::optional<Sequence>> after(nodes.size());
  std::vector<bool> accepted(nodes.size());
  for (std::size_t i = 0; i < round.acceptance.path.size(); ++i) {
    const int node = round.acceptance.path[i];
    const std::size_t index = static_cast<std::size_t>(firstToken) + i + 1;
    accepted[node] = true;
    if (index < plain_.before.size()) after[node] = plain_.before[index].fork();
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (accepted[i]) continue;
    const int parent = nodes[i].parent;
    if (parent >= 0 && !after[parent]) continue;  // below the last plain token
    Sequence sequence = parent < 0 ? plain_.before[firstToken].fork() : after[parent]->fork();
    const Batch batch = Batch::chain(std::span(&nodes[i].token, 1), sequence.length());
    const int row = 0;
    if (Status s = reference_.forward(sequence, batch, std::span(&row, 1), options_.cancel); !s.ok())
      return s;
    result_.differingBits += differingBits(round.logits(static_cast<int>(i) + 1), reference_.logits(0));
    ++result_.rejectedRows;
    if (Status s = reference_.commit(sequence, std::span(&row, 1)); !s.ok()) return s;
    after[i] = std::move(sequence);
  }
  return {};
}

}  // namespace tandem::agreement
