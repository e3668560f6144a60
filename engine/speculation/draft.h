// A draft: tokens guessed to follow the sequence, as a tree in depth-first order, and how the target's own
// choices walk through it.
#pragma once

#include <functional>
#include <vector>

#include "engine/session/generation.h"

namespace tandem {

struct DraftNode {
  TokenId token;
  int parent;  // index of the node it follows; -1: it follows the token that is certain
};

struct Draft {
  std::vector<DraftNode> nodes;
  TokenOrigin origin = TokenOrigin::kPlain;

  int size() const { return static_cast<int>(nodes.size()); }
  void extendChain(TokenId token) { nodes.push_back({token, size() - 1}); }
};

// What a verify pass decided: the drafted nodes that the target confirmed, in order, and the token that the
// target chose after the last of them.
struct Acceptance {
  std::vector<int> path;
  TokenId next;
};

// Walks from the root by the target's choice at each node: choose(-1) is the target's token after the certain
// one, choose(i) its token after node i; choose is called once per step, in order. The walk stops where no
// child carries the choice, or where the choice ends the answer (ends(token)).
Acceptance acceptDraft(const Draft& draft, const std::function<TokenId(int node)>& choose,
                       const std::function<bool(TokenId)>& ends);

}  // namespace tandem
