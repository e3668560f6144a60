// One request's side of speculation: its drafters, what they propose each round as one draft, and what they
// learn. Belongs to the request's thread.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/speculation/router.h"

namespace tandem {

// Whether the router decides what these options draft.
bool isRouted(const SpeculationOptions& options);

class Speculator {
 public:
  // For an answer of which `answered` tokens are in the context already.
  // REQUIRES: checkSpeculation(options).ok(); options and resources outlive the speculator.
  Speculator(const SpeculationOptions& options, SpeculationResources& resources, const DraftTarget& target,
             std::size_t answered);

  // A sentence for each drafter that was asked for and is not there.
  const std::vector<std::string>& warnings() const { return warnings_; }

  // Tokens that are certain: at first the context, then the answer's first token.
  void begin(std::span<const TokenId> context);
  // The draft of the next round, whose first token would be the answer's `index`-th, at most `depth` tokens
  // deep and `nodes` nodes large; why, and what else there was, goes into the report.
  Draft propose(int depth, int nodes, std::uint64_t index, RoundReport& report);
  // The round's end: `tokens` became certain, one or more. The report is complete.
  void end(std::span<const TokenId> tokens, const RoundReport& report);

 private:
  struct Member {
    std::unique_ptr<Drafter> drafter;
    Draft proposed;  // in this round
    bool asked = false;
    int idle = 0;      // rounds since it was asked last
    int patience = 1;  // so many it stays idle before it is tried again
  };

  Draft proposeAll(const DraftBudget& budget);
  Draft route(const DraftBudget& budget, RoundReport& report);
  void askDear(Member& member, const Draft& others, DraftBudget budget, int context);
  void ask(Member& member, const DraftBudget& budget);
  Draft united() const;
  void learn(Member& member, std::span<const TokenId> tokens);

  const SpeculationOptions& options_;
  SpeculationResources& resources_;
  std::vector<std::string> warnings_;
  std::vector<Member> members_;
  std::optional<Router> router_;
};

}  // namespace tandem
