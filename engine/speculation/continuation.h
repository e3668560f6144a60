// What lookup finds: places in known text where the last tokens stood before, and how the text went on there;
// and the tree of nodes with probabilities that is made of them.
#pragma once

#include <span>
#include <vector>

#include "engine/speculation/calibration.h"
#include "engine/speculation/drafter.h"

namespace tandem {

struct Continuation {
  std::vector<TokenId> tokens;  // what followed
  int match = 0;                // tokens before it that equal the last tokens of the text, up to kMatchMost
};
inline constexpr int kMatchMost = 256;

// Priors of a lookup drafter's Calibration; its classes are those of ContinuationTree.
const std::vector<float>& lookupPriors();

// One round's continuations as a draft. A node's evidence is the length of the match that it would continue
// (it grows by one for each node that came true) and how the continuations at its parent agree: one alone,
// several that all say the same, the best of several, the second, a further one.
class ContinuationTree {
 public:
  // found: best first. Nodes beyond the budget are cut by joint probability.
  Draft build(std::span<const Continuation> found, const DraftBudget& budget, TokenOrigin origin,
              const RequestCalibration& calibration);
  // The text went on like this: teaches what the nodes that were reached were worth. Once per build().
  void teach(std::span<const TokenId> followed, RequestCalibration& calibration);

 private:
  struct Node {
    TokenId token;
    int parent;
    int match;  // the longest one that is continued here
    int count;  // continuations through it
    int evidence = 0;
  };
  void grow(std::span<const Continuation> found, const DraftBudget& budget);
  void weigh();

  std::vector<Node> nodes_;  // in the order they were found: of siblings the better one first
};

}  // namespace tandem
