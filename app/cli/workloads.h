// The six fixed workloads of `bench`: a few prompts each, continued as they are. Their files are
// resources/workloads/NAME.txt, built into the program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"
#include "engine/session/generation.h"

namespace tandem::cli {

struct Workload {
  std::string name;
  std::vector<std::string> prompts;
  // Greedy, but for base64: a small model's likeliest base64 is a copy or a loop, and only drawn text is
  // random.
  SamplingParams sampling;
};

// "prose", "chat", "code", "edit" (a text written again with a small change), "quote" (the prompt's own
// text), "base64" (random); "all": each of them. Error: kInvalidArgument, listing them.
Result<std::vector<Workload>> workloadsByName(std::string_view name);

}  // namespace tandem::cli
