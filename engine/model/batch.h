// What one forward pass computes: rows of tokens hanging on the last committed position of a sequence, or of
// several sequences at once.
#pragma once

#include <numeric>
#include <span>
#include <vector>

#include "engine/tokenizer/token_id.h"

namespace tandem {

struct Sequence;

struct BatchRow {
  TokenId token;
  int position;  // logical: the parent's plus one
  int parent;    // row of the parent, which comes before this one; -1: the sequence's last committed position
};

// A tree in depth-first order; a chain is a tree whose rows follow each other.
struct Batch {
  std::vector<BatchRow> rows;

  int size() const { return static_cast<int>(rows.size()); }
  // Adds a row under `parent` (-1: at position `base`) and returns its index.
  int add(TokenId token, int parent, int base) {
    rows.push_back({token, parent < 0 ? base : rows[parent].position + 1, parent});
    return size() - 1;
  }
  static Batch chain(std::span<const TokenId> tokens, int base) {
    Batch batch;
    batch.rows.reserve(tokens.size());
    for (const TokenId token : tokens)
      batch.add(token, batch.size() - 1, base);
    return batch;
  }
};

// One sequence's share of a pass.
struct PassPart {
  const Sequence& sequence;
  const Batch& batch;              // what is computed after it
  std::span<const int> logitRows;  // rows of the batch whose logits are wanted
};

// Rows 0 … count - 1: all of a batch.
inline std::vector<int> firstRows(int count) {
  std::vector<int> rows(count);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

}  // namespace tandem
