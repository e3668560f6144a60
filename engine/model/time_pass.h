// What one forward pass takes: the piece that every measurement of passes is made of.
#pragma once

#include <vector>

#include "engine/base/stopwatch.h"
#include "engine/model/decoder.h"

namespace tandem {

// Milliseconds of a pass of so many rows of `token`, a chain behind the sequence, logits of every row
// included. Errors and requirements: those of Decoder::forward.
inline Result<double> timePass(Decoder& decoder, const Sequence& sequence, TokenId token, int rows,
                               const std::atomic<bool>* cancel) {
  const std::vector<TokenId> tokens(rows, token);
  const Batch batch = Batch::chain(tokens, sequence.length());
  const std::vector<int> all = firstRows(rows);
  const Stopwatch watch;
  if (Status s = decoder.forward(sequence, batch, all, cancel); !s.ok()) return s.error();
  return watch.ms();
}

}  // namespace tandem
