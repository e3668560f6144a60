// What one forward pass computes: rows of tokens hanging on a sequence's last committed position.
#pragma once

#include <numeric>
#include <span>
#include <vector>

#include "engine/tokenizer/token_id.h"

namespace tandem {

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

// Rows 0 … count - 1: all of a batch.
inline std::vector<int> firstRows(int count) {
  std::vector<int> rows(count);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

}  // namespace tandem
