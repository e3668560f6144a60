#include "engine/speculation/speculator.h"

#include <algorithm>

#include "engine/speculation/merge.h"
#include "engine/speculation/options.h"

namespace tandem {

Speculator::Speculator(const SpeculationOptions& options, int vocabulary)
    : options_(options), drafters_(makeDrafters(options, vocabulary, warnings_)) {}

void Speculator::begin(std::span<const TokenId> context) {
  for (const auto& drafter : drafters_)
    drafter->append(context);
}

Draft Speculator::propose(int depth, RoundReport& report) {
  if (drafters_.empty() || depth < 1) {
    report.reason = drafters_.empty() ? "speculation is off" : "one token is left";
    return {};
  }
  const DraftBudget budget{
      .nodes = options_.shape.nodes, .depth = depth, .tree = options_.shape.kind == DraftShape::Kind::kTree};
  std::vector<Draft> drafts;
  for (const auto& drafter : drafters_)
    drafts.push_back(drafter->propose(budget));
  report.reason = "the shape is fixed: " + draftShapeName(options_.shape);
  return drafts.size() == 1 ? std::move(drafts.front()) : best(unite(drafts), budget);
}

void Speculator::end(std::span<const TokenId> tokens, const RoundReport&) {
  for (const auto& drafter : drafters_) {
    drafter->observe(tokens);
    drafter->append(tokens);
  }
}

}  // namespace tandem
