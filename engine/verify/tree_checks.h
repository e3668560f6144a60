// The checks of trees and commits, on a decoder and a text of at least 80 tokens: every row of a tree has the
// bits of its own path decoded one token at a time, and what a commit leaves has the bits of plain decoding.
#pragma once

#include <atomic>
#include <vector>

#include "engine/model/decoder.h"
#include "engine/verify/checks.h"

namespace tandem {

// Random trees of 2 … `largest` (at most 32) rows: logits of every row, and the sequence after a path of it
// was committed, whole and cut short.
Status checkTrees(Decoder& decoder, const std::vector<TokenId>& text, int largest,
                  const std::atomic<bool>* cancel, CheckResult& result);

// `rounds` rounds in a row that draft seven wrong tokens each: the sequence and the next logits are those of
// a run that never drafted.
Status checkRejects(Decoder& decoder, const std::vector<TokenId>& text, int rounds,
                    const std::atomic<bool>* cancel, CheckResult& result);

// The recurrent state of a hybrid, taken as bytes and put into another sequence: it goes on alike.
Status checkSnapshot(Decoder& decoder, const std::vector<TokenId>& text, const std::atomic<bool>* cancel,
                     CheckResult& result);

}  // namespace tandem
