#include "engine/speculation/merge.h"

#include <algorithm>
#include <numeric>

namespace tandem {
namespace {

std::vector<std::vector<int>> childrenOf(const Draft& draft) {
  std::vector<std::vector<int>> children(draft.nodes.size() + 1);  // [0]: of the root, [i + 1]: of node i
  for (int i = 0; i < draft.size(); ++i)
    children[draft.nodes[i].parent + 1].push_back(i);
  return children;
}

// Copies the nodes that are kept, best child first, so that the result is in depth-first order.
void copyBelow(const Draft& from, const std::vector<std::vector<int>>& children,
               const std::vector<bool>& kept, int node, int parent, Draft& to) {
  for (const int child : children[node + 1]) {
    if (!kept[child]) continue;
    const DraftNode& n = from.nodes[child];
    copyBelow(from, children, kept, child, to.add(n.token, parent, n.probability, n.origin), to);
  }
}

Draft inOrder(const Draft& draft, const std::vector<bool>& kept) {
  std::vector<std::vector<int>> children = childrenOf(draft);
  for (std::vector<int>& siblings : children) {
    std::stable_sort(siblings.begin(), siblings.end(),
                     [&](int a, int b) { return draft.nodes[a].probability > draft.nodes[b].probability; });
  }
  Draft result;
  copyBelow(draft, children, kept, -1, -1, result);
  return result;
}

}  // namespace

Draft unite(std::span<const Draft> drafts) {
  Draft all;
  for (const Draft& draft : drafts) {
    std::vector<int> place;  // of each node in `all`
    for (const DraftNode& node : draft.nodes) {
      const int parent = node.parent < 0 ? -1 : place[node.parent];
      int at = childWith(all, parent, node.token);
      if (at < 0) {
        at = all.add(node.token, parent, node.probability, node.origin);
      } else if (node.probability > all.nodes[at].probability) {
        all.nodes[at].probability = node.probability;
        all.nodes[at].origin = node.origin;
      }
      place.push_back(at);
    }
  }
  for (const std::vector<int>& siblings : childrenOf(all)) {
    float sum = 0;
    for (const int i : siblings)
      sum += all.nodes[i].probability;
    for (const int i : siblings)
      if (sum > 1) all.nodes[i].probability /= sum;
  }
  return inOrder(all, std::vector<bool>(all.nodes.size(), true));
}

Draft best(const Draft& whole, const DraftBudget& budget) {
  const std::vector<double> joint = jointProbabilities(whole);
  const std::vector<int> depth = depths(whole);
  std::vector<int> order(whole.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  // Parents come before their children: they are no less probable and stand before them.
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return joint[a] > joint[b]; });
  std::vector<bool> kept(whole.nodes.size(), false);
  int count = 0, last = -1;
  for (const int i : order) {
    if (count == budget.nodes || joint[i] < budget.least) break;
    const int parent = whole.nodes[i].parent;
    if (depth[i] > budget.depth || (parent >= 0 && !kept[parent])) continue;
    if (!budget.tree && parent != last) continue;
    kept[i] = true;
    last = i;
    ++count;
  }
  return inOrder(whole, kept);
}

}  // namespace tandem
