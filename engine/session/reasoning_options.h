// What a request asks of a model's thinking, and what became of it. Plain data.
#pragma once

#include <cstdint>

namespace tandem {

struct ReasoningOptions {
  int budget = 0;           // tokens of a thinking block, after which it is closed; 0: no limit
  bool stallClose = false;  // a block that goes in circles is closed

  bool operator==(const ReasoningOptions&) const = default;
};

enum class ReasoningEnd : std::uint8_t {
  kNone,    // the answer has no block
  kOpen,    // it was not closed
  kOwn,     // the model closed it
  kBudget,  // it was closed when its budget was used up,
  kStall,   // or when it went in circles
};
// "none", "open", "own", "budget", "stall"
const char* reasoningEndName(ReasoningEnd end);

struct ReasoningStats {
  int tokens = 0;  // of the block, the closing mark's included
  ReasoningEnd end = ReasoningEnd::kNone;

  bool closedEarly() const { return end == ReasoningEnd::kBudget || end == ReasoningEnd::kStall; }
};

}  // namespace tandem
