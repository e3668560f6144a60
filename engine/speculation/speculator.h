// One request's side of speculation: its drafters, what they propose each round as one draft, and what they
// learn. Belongs to the request's thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/speculation/drafter.h"
#include "engine/speculation/round_report.h"

namespace tandem {

class Speculator {
 public:
  // REQUIRES: checkSpeculation(options).ok(). `vocabulary` bounds the ids that may be proposed.
  Speculator(const SpeculationOptions& options, int vocabulary);

  // A sentence for each drafter that was asked for and is not there.
  const std::vector<std::string>& warnings() const { return warnings_; }

  // Tokens that are certain: the prompt and the answer so far.
  void begin(std::span<const TokenId> context);
  // The draft of the next round, at most `depth` tokens deep; why, and what else there was, goes into the
  // report.
  Draft propose(int depth, RoundReport& report);
  // The round's end: `tokens` became certain, one or more. The report is complete.
  void end(std::span<const TokenId> tokens, const RoundReport& report);

 private:
  const SpeculationOptions& options_;
  std::vector<std::string> warnings_;
  std::vector<std::unique_ptr<Drafter>> drafters_;
};

}  // namespace tandem
