// Trees for checks.
#pragma once

#include <vector>

#include "engine/model/batch.h"
#include "engine/verify/token_stream.h"

namespace tandem {

// A tree of `size` random tokens in depth-first order: each new row hangs on the last one or on one of those
// above it.
inline Batch randomTree(int size, int base, TokenStream& random) {
  Batch tree;
  tree.add(random.next(), -1, base);
  while (tree.size() < size) {
    int parent = tree.size() - 1;
    while (parent > 0 && random.below(3) == 0)
      parent = tree.rows[parent].parent;
    tree.add(random.next(), parent, base);
  }
  return tree;
}

// The rows from the root to `row`.
inline std::vector<int> pathTo(const Batch& tree, int row) {
  std::vector<int> path;
  for (; row >= 0; row = tree.rows[row].parent)
    path.insert(path.begin(), row);
  return path;
}

}  // namespace tandem
