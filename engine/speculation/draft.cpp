#include "engine/speculation/draft.h"

namespace tandem {
namespace {

// The child of `parent` that carries `token`, or -1.
int childWith(const Draft& draft, int parent, TokenId token) {
  for (int i = parent + 1; i < draft.size(); ++i) {
    if (draft.nodes[i].parent == parent && draft.nodes[i].token == token) return i;
  }
  return -1;
}

}  // namespace

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
