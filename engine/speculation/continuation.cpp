#include "engine/speculation/continuation.h"

#include <algorithm>
#include <array>

#include "engine/speculation/merge.h"

namespace tandem {
namespace {

constexpr int kMostNodes = 96;     // of a tree before it is cut
constexpr int kFurtherDepth = 16;  // of continuations behind the best one
constexpr std::array kMatchLimits = {2, 3, 4, 5, 6, 7, 8, 11, 15, 23, 31, 47, 63, 127};
constexpr int kMatchClasses = static_cast<int>(kMatchLimits.size()) + 1;
enum Agreement { kAlone, kAllAgree, kBestOfSeveral, kSecond, kFurther, kAgreements };

int evidenceOf(int match, Agreement agreement) {
  const auto limit = std::lower_bound(kMatchLimits.begin(), kMatchLimits.end(), match);
  return agreement * kMatchClasses + static_cast<int>(limit - kMatchLimits.begin());
}

std::vector<float> makePriors() {
  // By match class. What is measured soon replaces them.
  constexpr std::array<float, kMatchClasses> kByMatch = {.25f, .38f, .5f, .6f, .68f, .74f, .79f, .86f,
                                                         .92f, .95f,  .965f, .975f, .98f, .985f, .985f};
  constexpr std::array<float, kAgreements> kByAgreement = {1.0f, 1.1f, 0.7f, 0.3f, 0.15f};
  std::vector<float> priors;
  for (const float agreement : kByAgreement) {
    for (const float match : kByMatch)
      priors.push_back(std::min(agreement * match, 0.985f));
  }
  return priors;
}

}  // namespace

const std::vector<float>& lookupPriors() {
  static const std::vector<float> priors = makePriors();
  return priors;
}

Draft ContinuationTree::build(std::span<const Continuation> found, const DraftBudget& budget,
                              TokenOrigin origin, const RequestCalibration& calibration) {
  grow(found, budget);
  weigh();
  Draft draft;
  for (const Node& node : nodes_)
    draft.add(node.token, node.parent, calibration.probability(node.evidence), origin);
  return best(unite(std::span(&draft, 1)), budget);
}

void ContinuationTree::grow(std::span<const Continuation> found, const DraftBudget& budget) {
  nodes_.clear();
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (i > 0 && !budget.tree) break;
    const int most = std::min(budget.depth, i == 0 ? budget.nodes : std::min(budget.nodes, kFurtherDepth));
    int parent = -1, match = found[i].match;
    for (const TokenId token :
         std::span(found[i].tokens)
             .first(std::min(found[i].tokens.size(), static_cast<std::size_t>(std::max(most, 0))))) {
      ++match;
      int at = parent + 1;
      const int size = static_cast<int>(nodes_.size());
      while (at < size && (nodes_[at].parent != parent || nodes_[at].token != token))
        ++at;
      if (at == size) {
        if (size == kMostNodes) return;
        nodes_.push_back({token, parent, match - 1, 0});
      }
      ++nodes_[at].count;
      parent = at;
    }
  }
}

void ContinuationTree::weigh() {
  const int size = static_cast<int>(nodes_.size());
  for (int i = 0; i < size; ++i) {
    int before = 0, siblings = 0;
    for (int j = nodes_[i].parent + 1; j < size; ++j) {
      if (j == i || nodes_[j].parent != nodes_[i].parent) continue;
      ++siblings;
      before += j < i ? 1 : 0;
    }
    const Agreement agreement = before > 1            ? kFurther
                                : before == 1         ? kSecond
                                : siblings > 0        ? kBestOfSeveral
                                : nodes_[i].count > 1 ? kAllAgree
                                                      : kAlone;
    nodes_[i].evidence = evidenceOf(nodes_[i].match, agreement);
  }
}

void ContinuationTree::teach(std::span<const TokenId> followed, RequestCalibration& calibration) {
  int parent = -1;
  for (const TokenId token : followed) {
    int next = -1;
    for (int i = parent + 1; i < static_cast<int>(nodes_.size()); ++i) {
      if (nodes_[i].parent != parent) continue;
      calibration.observe(nodes_[i].evidence, nodes_[i].token == token);
      if (nodes_[i].token == token) next = i;
    }
    if (next < 0) break;
    parent = next;
  }
  nodes_.clear();
}

}  // namespace tandem
