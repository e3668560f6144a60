// Sets of request options that the gate holds speculation against, by name: what changes scores, each alone
// and together, and forms that an answer must have, greedy and sampled.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"
#include "engine/constraint/spec.h"
#include "engine/session/generation.h"

namespace tandem::agreement {

struct OptionSet {
  SamplingParams sampling = {};
  ConstraintSpec form = {};  // of kind kNone: any
};

// "plain" (greedy, nothing else), "penalties", "no-repeat", "bias", "combined", "json-schema", "regex" and
// "tool-call"; with "+sampled" behind it each draws with a seed, and "sampled" alone draws from the plain
// scores. "all" stands for the sixteen of them. Separated by commas. Error: kInvalidArgument, with the names.
Result<std::vector<std::string>> optionSetsByName(std::string_view names);

// The set of that name for a prompt: biases are on its tokens. seed: of a sampled set.
Result<OptionSet> optionSet(std::string_view name, std::span<const TokenId> prompt, std::uint64_t seed);

// Whether the set draws, and its name without that: "plain" for "sampled".
bool isSampled(std::string_view name);
std::string_view withoutSampled(std::string_view name);

// What stands between commas; an empty list is one empty part.
std::vector<std::string> splitList(std::string_view list);

}  // namespace tandem::agreement
