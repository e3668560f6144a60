// A draft: tokens guessed to follow the sequence, as a tree in depth-first order, and how the target's own
// choices walk through it. Pure functions.
#pragma once

#include <functional>
#include <vector>

#include "engine/session/generation.h"

namespace tandem {

struct DraftNode {
  TokenId token;
  int parent;             // index of the node it follows; -1: it follows the token that is certain
  float probability = 1;  // that the target chooses it, given that the target has come to its parent
  TokenOrigin origin = TokenOrigin::kPlain;

  bool operator==(const DraftNode&) const = default;
};

struct TokenProbability {
  TokenId token;
  double probability;
};
// A distribution that a token was drawn from, by token id; what it leaves out has probability 0.
using Proposal = std::vector<TokenProbability>;

// At most kMaxDraftNodes nodes in depth-first order: a parent comes before its children, and a node's
// descendants follow it without a gap. The children of one node carry distinct tokens.
struct Draft {
  std::vector<DraftNode> nodes;
  // Of each node, where a drafter draws its guesses for the rejection sampler; else empty: they are certain.
  std::vector<Proposal> proposals = {};

  int size() const { return static_cast<int>(nodes.size()); }
  bool empty() const { return nodes.empty(); }
  int add(TokenId token, int parent, float probability, TokenOrigin origin) {
    nodes.push_back({token, parent, probability, origin});
    return size() - 1;
  }
};

// Whether the draft is as described above; what the loop requires of a drafter.
bool wellFormed(const Draft& draft);

// Nodes from the root to each node, itself included.
std::vector<int> depths(const Draft& draft);
// Per node the probability that the target comes to it: the product along its path.
std::vector<double> jointProbabilities(const Draft& draft);
// Tokens expected to be accepted: the sum of the joint probabilities.
double expectedAccepted(const Draft& draft);

// What a verify pass decided: the drafted nodes that the target confirmed, in order, and the token that the
// target chose after the last of them.
struct Acceptance {
  std::vector<int> path;
  TokenId next = -1;
};

// Walks from the root by the target's choice at each node: choose(-1) is the target's token after the certain
// one, choose(i) its token after node i; choose is called once per step, in order. The walk stops where no
// child carries the choice, or where the choice ends the answer (ends(token), called once per choice).
Acceptance acceptDraft(const Draft& draft, const std::function<TokenId(int node)>& choose,
                       const std::function<bool(TokenId)>& ends);

// The child of `parent` (-1: the root) that carries `token`, or -1.
int childWith(const Draft& draft, int parent, TokenId token);

}  // namespace tandem
