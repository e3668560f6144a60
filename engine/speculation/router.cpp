#include "engine/speculation/router.h"

#include <algorithm>
#include <cstdio>

#include "engine/speculation/merge.h"

namespace tandem {
namespace {

constexpr int kFirstTries = 6,
              kTries = 3;  // drafted rounds before they are judged, at first and after a pause
constexpr int kShortestPause = 8, kLongestPause = 128;
constexpr double kFading = 0.9;

std::string named(const RouteCandidate& candidate) {
  const char* kind = candidate.kind == DraftShape::Kind::kTree ? "a tree of " : "a chain of ";
  return kind + std::to_string(candidate.nodes);
}

std::string rates(const RouteCandidate& draft, const RouteCandidate& plain) {
  char text[120];
  std::snprintf(text, sizeof text, "expects %.2f accepted in %.2f ms, %.1f tokens/s; plain %.1f",
                draft.expected, draft.ms(), draft.tokensPerSecond(), plain.tokensPerSecond());
  return text;
}

}  // namespace

bool Router::wantsDraft(RoundReport& report) {
  others_ = report.others;
  if (pause_ == 0) return true;
  report.reason = "drafting has lost time and pauses for " + std::to_string(pause_) + " rounds";
  --pause_;
  return false;
}

// A pass of more rows than the staircase has costs as much more as its last step says.
double Router::verifyMs(int rows, int context) const {
  const double steps = std::max(1.0, static_cast<double>(rows) / VerifyCost::kMostRows);
  return steps * resources_.verifyCost.ms(std::min(rows, VerifyCost::kMostRows), context);
}

RouteCandidate Router::priced(DraftShape::Kind kind, int nodes, double expected, double draftMs,
                              int context) const {
  return {.kind = kind,
          .nodes = nodes,
          .expected = expected,
          .draftMs = draftMs,
          .verifyMs = verifyMs(1 + others_ + nodes, context),
          .commitMs = resources_.commitMs * (1 + others_ + expected),
          .others = others_};
}

// The best size of a chain, or of a tree, as budget.tree says. Of a draft's nodes the likeliest come first,
// so the sum of the first n joint probabilities is what n nodes are expected to bring.
RouteCandidate Router::bestOf(const Draft& whole, const DraftBudget& budget, double draftMs,
                              int context) const {
  std::vector<double> joint = jointProbabilities(best(whole, budget));
  std::sort(joint.begin(), joint.end(), std::greater<>());
  const auto kind = budget.tree ? DraftShape::Kind::kTree : DraftShape::Kind::kChain;
  RouteCandidate winner;
  double expected = 0;
  for (std::size_t n = 1; n <= joint.size(); ++n) {
    expected += joint[n - 1];
    const RouteCandidate next = priced(kind, static_cast<int>(n), expected, draftMs, context);
    if (n == 1 || next.tokensPerSecond() > winner.tokensPerSecond()) winner = next;
  }
  return winner;
}

Draft Router::choose(const Draft& whole, const DraftBudget& budget, DraftShape::Kind kind, double draftMs,
                     RoundReport& report) const {
  const int context = report.context;
  const RouteCandidate plain = priced(DraftShape::Kind::kChain, 0, 0, 0, context);
  report.candidates = {plain};
  report.chosen = 0;
  if (whole.empty()) {
    report.reason = "no drafter has a guess";
    return {};
  }
  DraftBudget chain = budget, tree = budget;
  chain.tree = false;
  tree.tree = true;
  if (kind != DraftShape::Kind::kTree) report.candidates.push_back(bestOf(whole, chain, draftMs, context));
  if (kind != DraftShape::Kind::kChain) {
    const RouteCandidate candidate = bestOf(whole, tree, draftMs, context);
    // A tree without a branch is a chain.
    if (kind == DraftShape::Kind::kTree || candidate.expected > report.candidates.back().expected ||
        candidate.nodes != report.candidates.back().nodes) {
      report.candidates.push_back(candidate);
    }
  }
  const auto faster = [](const RouteCandidate& a, const RouteCandidate& b) {
    return a.tokensPerSecond() < b.tokensPerSecond();
  };
  const auto winner = std::max_element(report.candidates.begin() + 1, report.candidates.end(), faster);
  if (winner->tokensPerSecond() < kLeastGain * plain.tokensPerSecond()) {
    report.reason = "nothing drafted pays: " + named(*winner) + " " + rates(*winner, plain);
    return {};
  }
  report.chosen = static_cast<int>(winner - report.candidates.begin());
  report.reason = named(*winner) + " " + rates(*winner, plain);
  DraftBudget taken = budget;
  taken.nodes = winner->nodes;
  taken.tree = winner->kind == DraftShape::Kind::kTree;
  return best(whole, taken);
}

int Router::worthAsking(double right, double tokenMs, const Draft& others, const DraftBudget& budget,
                        int context) const {
  double bestRate = priced(DraftShape::Kind::kChain, 0, 0, 0, context).tokensPerSecond() * kLeastGain;
  if (!others.empty()) bestRate = std::max(bestRate, bestOf(others, budget, 0, context).tokensPerSecond());
  int nodes = 0;
  double expected = 0, joint = 1;
  for (int n = 1; n <= std::min(budget.nodes, budget.depth); ++n) {
    expected += joint *= right;
    const RouteCandidate candidate = priced(DraftShape::Kind::kChain, n, expected, tokenMs * n, context);
    if (candidate.tokensPerSecond() > bestRate) {
      bestRate = candidate.tokensPerSecond();
      nodes = n;
    }
  }
  return nodes;
}

void Router::observe(const RoundReport& report) {
  const int rows = report.drafted + 1 + report.otherRows;
  if (report.firstOfPass && rows <= VerifyCost::kMostRows)
    resources_.verifyCost.observe(rows, report.context, report.verifyMs);
  const double perToken = report.commitMs / (1 + report.accepted);
  resources_.commitMs += 0.05 * (std::min(perToken, 10 * resources_.commitMs) - resources_.commitMs);
  if (report.drafted == 0) return;
  // A request's share of a plain pass is its own without others; what its draft added it bears alone.
  const double together = verifyMs(1 + report.others, report.context);
  const double share = together / (1 + report.others);
  const double othersMs = verifyMs(1 + report.otherRows, report.context) - share;
  const double plainMs = share + resources_.commitMs;
  spentMs_ = kFading * spentMs_ + report.draftMs + report.verifyMs - othersMs + report.commitMs;
  worthMs_ = kFading * worthMs_ + (1 + report.accepted) * plainMs;
  ++tried_;
  if (worthMs_ > 1.05 * spentMs_) nextPause_ = kShortestPause;
  const int tries = nextPause_ == kShortestPause ? kFirstTries : kTries;
  if (tried_ >= tries && worthMs_ < 0.98 * spentMs_) {
    pause_ = nextPause_;
    nextPause_ = std::min(2 * nextPause_, kLongestPause);
    tried_ = 0;
    spentMs_ = worthMs_ = 0;
  }
}

}  // namespace tandem
