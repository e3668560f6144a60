// The check of passes that several sequences share: each sequence's logits, and what its commit leaves, have
// the bits that the same rows give alone (docs/parallel.md).
#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <vector>

#include "engine/model/decoder.h"
#include "engine/verify/checks.h"

namespace tandem {

// The pass under test. Tests put wrong ones in its place.
struct JointPass {
  std::function<Status(std::span<const PassPart> parts)> forward;
  std::function<Status(Sequence& sequence, std::span<const int> rows, int part)> commit;
};
JointPass jointPassOf(Decoder& decoder, const std::atomic<bool>* cancel);

// `rounds` passes that mix prompt chunks, single rows, chains and trees of up to eight sequences, each of
// another length, in changing company; a random path of each is committed. The same is done with each
// sequence alone. `largest`: rows of a part at most. REQUIRES: a text of at least 80 tokens.
Status checkParallel(Decoder& decoder, const std::vector<TokenId>& text, int rounds, int largest,
                     const std::atomic<bool>* cancel, CheckResult& result, const JointPass& joint);

}  // namespace tandem
