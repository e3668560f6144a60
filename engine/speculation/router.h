// Decides what a round verifies: a tree, a chain, how much of it, or nothing. One per request.
//
// A candidate's price is what its round takes, its gain the tokens it brings:
//
//   rate = (1 + expected accepted) / (draft ms + verify ms(1 + nodes, context) + commit ms)
//
// Where n other requests share the pass, each has a row and brings a token at least:
//
//   rate = (1 + n + expected accepted) / (draft ms + verify ms(1 + n + nodes, context) + commit ms)
//
// Plain decoding is the candidate without nodes. The highest rate wins; a draft must beat plain decoding by
// kLeastGain, because its expectation is an estimate and plain's is not. When the drafts of the last rounds
// have brought less than plain decoding would have in their time, drafting pauses, longer each time that
// happens again. The choice can change the speed only, never the text.
#pragma once

#include "engine/speculation/drafter.h"
#include "engine/speculation/resources.h"
#include "engine/speculation/round_report.h"

namespace tandem {

class Router {
 public:
  static constexpr double kLeastGain = 1.03;

  explicit Router(SpeculationResources& resources) : resources_(resources) {}

  // Whether this round drafts at all; otherwise the report says why. Takes from the report who else is in the
  // pass.
  bool wantsDraft(RoundReport& report);

  // The best part of `whole` (the proposals of all drafters), possibly nothing. kind: kAuto takes chain or
  // tree. draftMs: what proposing took. Fills the report's candidates, choice and reason.
  Draft choose(const Draft& whole, const DraftBudget& budget, DraftShape::Kind kind, double draftMs,
               RoundReport& report) const;

  // The nodes that a drafter whose every token takes `tokenMs` should be asked for, which is right with
  // probability `right` each time; 0: it is not worth it beside `others`, what the other drafters propose.
  int worthAsking(double right, double tokenMs, const Draft& others, const DraftBudget& budget,
                  int context) const;

  // What came of a round that was routed.
  void observe(const RoundReport& report);

 private:
  double verifyMs(int rows, int context) const;
  RouteCandidate priced(DraftShape::Kind kind, int nodes, double expected, double draftMs, int context) const;
  RouteCandidate bestOf(const Draft& whole, const DraftBudget& budget, double draftMs, int context) const;

  SpeculationResources& resources_;
  int others_ = 0;  // other requests in this round's pass
  // Of the last drafted rounds, older ones fading: their time, and the time plain decoding would have taken.
  double spentMs_ = 0, worthMs_ = 0;
  int tried_ = 0;      // drafted rounds since the last pause
  int pause_ = 0;      // rounds still to wait
  int nextPause_ = 8;  // doubles up to kLongestPause
};

}  // namespace tandem
