// Whether an agent goes round in circles: its last tool call repeats or nearly repeats an earlier one and
// brought nothing new. docs/loop-escape.md defines a repeat, a near-repeat and progress.
//
// Pure functions of the conversation, so the same messages always get the same answer, whoever sends them and
// whatever was judged before; any thread may call.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "app/service/engine_backend.h"

namespace tandem::service {

enum class Loop : std::uint8_t {
  kNone,
  kRepeat,      // the last call was made before, to the letter
  kNearRepeat,  // … but for details that do not matter
};
// "none", "repeat", "near_repeat".
const char* loopName(Loop loop);

struct LoopJudgement {
  Loop loop = Loop::kNone;
  int stepsBack = 0;  // to the call that was repeated; 1: the one before. 0 where there is no loop

  bool operator==(const LoopJudgement&) const = default;
};

// Whether the next message is an agent's turn: the conversation ends with a tool's result.
bool isAgentTurn(const std::vector<PromptMessage>& messages);

// The judgement before the next answer. kNone where it is not an agent's turn.
LoopJudgement judgeLoop(const std::vector<PromptMessage>& messages);

// Of two calls; kNone where they are different calls. Arguments that are no JSON are compared as a text.
Loop compareCalls(const ToolCall& a, const ToolCall& b);

// Whether two results say the same: white space, times, durations and UUIDs aside.
bool sameResult(std::string_view a, std::string_view b);

}  // namespace tandem::service
