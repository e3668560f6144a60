#include "engine/speculation/draft.h"

namespace tandem {

int childWith(const Draft& draft, int parent, TokenId token) {
  for (int i = parent + 1; i < draft.size(); ++i) {
    if (draft.nodes[i].parent == parent && draft.nodes[i].token == token) return i;
  }
  return -1;
}

bool wellFormed(const Draft& draft) {
  if (draft.size() > kMaxDraftNodes) return false;
  for (int i = 0; i < draft.size(); ++i) {
    const DraftNode& node = draft.nodes[i];
    // Depth-first: the parent is the node before, or one of that node's ancestors.
    int open = i - 1;
    while (open >= 0 && open != node.parent)
      open = draft.nodes[open].parent;
    if (open != node.parent) return false;
    if (childWith(draft, node.parent, node.token) != i) return false;
  }
  return true;
}

std::vector<int> depths(const Draft& draft) {
  std::vector<int> result;
  for (const DraftNode& node : draft.nodes)
    result.push_back(node.parent < 0 ? 1 : result[node.parent] + 1);
  return result;
}

std::vector<double> jointProbabilities(const Draft& draft) {
  std::vector<double> result;
  for (const DraftNode& node : draft.nodes)
    result.push_back(node.probability * (node.parent < 0 ? 1.0 : result[node.parent]));
  return result;
}

double expectedAccepted(const Draft& draft) {
  double sum = 0;
  for (const double joint : jointProbabilities(draft))
    sum += joint;
  return sum;
}

Acceptance acceptDraft(const Draft& draft, const std::function<TokenId(int node)>& choose,
                       const std::function<bool(TokenId)>& ends) {
  Acceptance result;
  int node = -1;
  for (;;) {
    result.next = choose(node);
    if (ends(result.next)) return result;
    const int child = childWith(draft, node, result.next);
    if (child < 0) return result;
    result.path.push_back(child);
    node = child;
  }
}

}  // namespace tandem
