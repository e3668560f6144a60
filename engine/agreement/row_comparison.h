// Follows one speculated run and compares the rows it computed with the plain run's: the inside of the gate.
#pragma once

#include <random>
#include <span>
#include <vector>

#include "engine/agreement/agreement.h"

namespace tandem::agreement {

// Bits in which two rows differ; every bit of what one of them lacks.
std::uint64_t differingBits(std::span<const float> a, std::span<const float> b);

class RowComparison {
 public:
  // `reference` decodes the paths of rejected rows. All arguments outlive the comparison.
  RowComparison(Decoder& reference, const PlainRun& plain, const GateOptions& options, std::uint64_t seed,
                CellResult& result);

  // The next token of the answer and the row it was chosen from.
  void onChosen(TokenId token, std::span<const float> logits);
  // The round that the tokens since the last call came from.
  void onVerified(const VerifiedRound& round);

  // kCancelled, or what broke the reference's own passes.
  const Status& status() const { return status_; }

 private:
  bool drawn();
  Status compareRejected(const VerifiedRound& round, int firstToken);

  Decoder& reference_;
  const PlainRun& plain_;
  const GateOptions& options_;
  CellResult& result_;
  std::mt19937_64 random_;
  int roundsToNext_ = 1;     // rounds with rejected rows until one is compared
  int chosen_ = 0;           // tokens of the answer so far
  int firstOfRound_ = 1;     // index of the first token that the next round chooses
  bool same_ = true;         // the tokens so far are the plain ones
  bool sameAtRound_ = true;  // and were when this round began
  Status status_;
};

}  // namespace tandem::agreement
