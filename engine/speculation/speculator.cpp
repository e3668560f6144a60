#include "engine/speculation/speculator.h"

#include <algorithm>

#include "engine/base/stopwatch.h"
#include "engine/speculation/merge.h"
#include "engine/speculation/options.h"

namespace tandem {
namespace {

constexpr double kWorthless = 0.02;  // a node that is reached with less is never worth a row
constexpr int kLongestIdle = 256;

// Whether a drafter's guesses take time that must be earned: each is a pass of a model.
bool isDear(const Drafter& drafter) {
  return drafter.origin() == TokenOrigin::kDraftModel || drafter.origin() == TokenOrigin::kMtp;
}

}  // namespace

bool isRouted(const SpeculationOptions& options) {
  return options.automatic || (!options.drafters.empty() && options.shape.kind == DraftShape::Kind::kAuto);
}

Speculator::Speculator(const SpeculationOptions& options, SpeculationResources& resources,
                       const DraftTarget& target, std::size_t answered)
    : options_(options), resources_(resources) {
  for (auto& drafter : makeDrafters(options, resources, target, answered, warnings_))
    members_.emplace_back().drafter = std::move(drafter);
  if (isRouted(options)) router_.emplace(resources);
}

void Speculator::begin(std::span<const TokenId> context) {
  for (const Member& member : members_)
    member.drafter->append(context);
}

Draft Speculator::propose(int depth, int nodes, std::uint64_t index, RoundReport& report) {
  for (Member& member : members_)
    member.asked = false;
  if (members_.empty() || depth < 1 || nodes < 1) {
    report.reason = members_.empty() ? "speculation is off"
                    : depth < 1      ? "one token is left"
                                     : "there is no row for a draft";
    return {};
  }
  const DraftBudget budget{.nodes = std::min(nodes, options_.shape.nodes),
                           .depth = depth,
                           .tree = options_.shape.kind != DraftShape::Kind::kChain,
                           .least = router_ ? kWorthless : 0,
                           .index = index};
  if (router_) return route(budget, report);
  report.reason = "the shape is fixed: " + draftShapeName(options_.shape);
  return proposeAll(budget);
}

Draft Speculator::proposeAll(const DraftBudget& budget) {
  for (Member& member : members_)
    ask(member, budget);
  return members_.size() == 1 ? members_.front().proposed : best(united(), budget);
}

// Lookup costs next to nothing, so it is asked in every round: it learns also while nothing is drafted. A
// drafter that takes time is asked where it is expected to be worth it.
Draft Speculator::route(const DraftBudget& budget, RoundReport& report) {
  const Stopwatch watch;
  for (Member& member : members_) {
    if (!isDear(*member.drafter)) ask(member, budget);
  }
  if (!router_->wantsDraft(report)) return {};
  Draft whole = united();
  for (Member& member : members_) {
    if (isDear(*member.drafter)) askDear(member, whole, budget, report.context);
  }
  if (members_.size() > 1) whole = united();
  return router_->choose(whole, budget, options_.shape.kind, watch.ms(), report);
}

void Speculator::askDear(Member& member, const Draft& others, DraftBudget budget, int context) {
  const double tokenMs = member.drafter->cost({.nodes = 1, .depth = 1});
  const bool untried = tokenMs == 0 || ++member.idle > member.patience;
  const int nodes = router_->worthAsking(resources_.draftModelRight, tokenMs, others, budget, context);
  if (nodes == 0 && !untried) return;
  if (nodes == 0) member.patience = std::min(2 * member.patience + 8, kLongestIdle);
  budget.depth = std::min(budget.depth, std::max(nodes, 2));
  if (options_.shape.kind == DraftShape::Kind::kAuto) budget.nodes = std::min(budget.nodes, 2 * budget.depth);
  ask(member, budget);
}

void Speculator::ask(Member& member, const DraftBudget& budget) {
  member.proposed = member.drafter->propose(budget);
  member.asked = true;
  member.idle = 0;
}

Draft Speculator::united() const {
  std::vector<Draft> drafts;
  for (const Member& member : members_) {
    if (member.asked && !member.proposed.empty()) drafts.push_back(member.proposed);
  }
  return unite(drafts);
}

void Speculator::end(std::span<const TokenId> tokens, const RoundReport& report) {
  for (Member& member : members_) {
    if (member.asked) learn(member, tokens);
    member.drafter->append(tokens);
  }
  if (router_) router_->observe(report);
}

void Speculator::learn(Member& member, std::span<const TokenId> tokens) {
  member.drafter->observe(tokens);
  if (!isDear(*member.drafter)) return;
  // How far it was right, whether or not that was verified.
  int node = -1;
  for (const TokenId token : tokens) {
    const bool guessed = std::any_of(member.proposed.nodes.begin(), member.proposed.nodes.end(),
                                     [node](const DraftNode& n) { return n.parent == node; });
    if (!guessed) break;
    node = childWith(member.proposed, node, token);
    resources_.draftModelRight += 0.04 * ((node >= 0 ? 1 : 0) - resources_.draftModelRight);
    if (node < 0) break;
  }
}

}  // namespace tandem
