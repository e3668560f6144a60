#include "app/service/loop_escape.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "app/service/call_text.h"

namespace tandem::service {
namespace {

using Json = nlohmann::json;  // objects sorted by key: the order in which they were written is gone

// A value's parts by the way to each; volatile ones and null are left out.
using Parts = std::map<std::string, Json>;
void addParts(const Json& value, const std::string& path, Parts& parts) {
  if (value.is_object()) {
    for (const auto& [name, member] : value.items()) {
      if (!isVolatileName(name)) addParts(member, path + '/' + name, parts);
    }
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i)
      addParts(value[i], path + '/' + std::to_string(i), parts);
  } else if (!value.is_null()) {
    parts[path] = value;
  }
}

bool nearlySame(const Json& a, const Json& b) {
  Parts one, other;
  addParts(a, "", one);
  addParts(b, "", other);
  return std::ranges::equal(one, other, [](const auto& x, const auto& y) {
    if (x.first != y.first) return false;
    if (!x.second.is_string() || !y.second.is_string()) return x.second == y.second;
    return nearlySameText(x.second.template get_ref<const std::string&>(),
                          y.second.template get_ref<const std::string&>());
  });
}

struct Call {
  const ToolCall* call;
  std::string_view result = {};
};
using Step = std::vector<Call>;  // the calls of one message

// A result belongs to the call that it names; without a name to the first that has none yet.
void addResult(Step& step, std::vector<bool>& answered, const PromptMessage& result) {
  for (std::size_t i = 0; i < step.size(); ++i) {
    const bool named = !result.toolCallId.empty() && !step[i].call->id.empty();
    if (answered[i] || (named && step[i].call->id != result.toolCallId)) continue;
    step[i].result = result.content;
    answered[i] = true;
    return;
  }
}

// The steps since a person last wrote something.
std::vector<Step> stepsOf(const std::vector<PromptMessage>& messages) {
  std::vector<Step> steps;
  std::vector<bool> answered;
  for (const PromptMessage& message : messages) {
    if (message.role == "user") {
      steps.clear();
    } else if (!message.toolCalls.empty()) {
      Step& step = steps.emplace_back();
      for (const ToolCall& call : message.toolCalls)
        step.push_back({&call});
      answered.assign(step.size(), false);
    } else if (message.role == "tool" && !steps.empty()) {
      addResult(steps.back(), answered, message);
    }
  }
  return steps;
}

// How an earlier step holds the call with the same result: to the letter before nearly.
Loop standsIn(const Step& step, const Call& last) {
  Loop best = Loop::kNone;
  for (const Call& earlier : step) {
    const Loop loop = compareCalls(*earlier.call, *last.call);
    if (loop == Loop::kNone || !sameResult(earlier.result, last.result)) continue;
    if (loop == Loop::kRepeat) return loop;
    best = loop;
  }
  return best;
}

}  // namespace

const char* loopName(Loop loop) {
  switch (loop) {
    case Loop::kRepeat:
      return "repeat";
    case Loop::kNearRepeat:
      return "near_repeat";
    case Loop::kNone:
      break;
  }
  return "none";
}

Loop compareCalls(const ToolCall& a, const ToolCall& b) {
  if (a.name != b.name) return Loop::kNone;
  if (a.arguments == b.arguments) return Loop::kRepeat;
  const std::optional<Json> one = argumentsOf<Json>(a.arguments), other = argumentsOf<Json>(b.arguments);
  if (!one || !other) {
    return !one && !other && nearlySameText(a.arguments, b.arguments) ? Loop::kNearRepeat : Loop::kNone;
  }
  if (*one == *other) return Loop::kRepeat;
  return nearlySame(*one, *other) ? Loop::kNearRepeat : Loop::kNone;
}

bool sameResult(std::string_view a, std::string_view b) {
  return a == b || lastingWordsOf(a) == lastingWordsOf(b);
}

bool isAgentTurn(const std::vector<PromptMessage>& messages) {
  return !messages.empty() && messages.back().role == "tool";
}

LoopJudgement judgeLoop(const std::vector<PromptMessage>& messages) {
  if (!isAgentTurn(messages)) return {};
  const std::vector<Step> steps = stepsOf(messages);
  if (steps.size() < 2) return {};
  LoopJudgement judgement = {Loop::kRepeat, 0};
  for (const Call& last : steps.back()) {
    Loop loop = Loop::kNone;
    int back = 0;
    while (loop == Loop::kNone && ++back < static_cast<int>(steps.size()))
      loop = standsIn(steps[steps.size() - 1 - static_cast<std::size_t>(back)], last);
    if (loop == Loop::kNone) return {};  // this one is new: progress
    if (loop == Loop::kNearRepeat) judgement.loop = loop;
    judgement.stepsBack = std::max(judgement.stepsBack, back);
  }
  return judgement;
}

}  // namespace tandem::service
