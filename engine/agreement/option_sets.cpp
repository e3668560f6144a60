#include "engine/agreement/option_sets.h"

#include <algorithm>

namespace tandem::agreement {
namespace {

constexpr std::string_view kSampled = "sampled";

void setPenalties(SamplingParams& p) {
  p.repetitionPenalty = 1.3f;
  p.presencePenalty = 0.5f;
  p.frequencyPenalty = 0.3f;
  p.penaltyWindow = 64;
}

void setNoRepeat(SamplingParams& p) {
  p.noRepeatNgramSize = 3;
}

// Pulls up every second token of the prompt and pushes down the others.
void setBias(SamplingParams& p, std::span<const TokenId> prompt) {
  std::vector<TokenId> tokens(prompt.begin(), prompt.end());
  std::sort(tokens.begin(), tokens.end());
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  for (std::size_t i = 0; i < tokens.size(); ++i)
    p.logitBias.push_back({tokens[i], i % 2 == 0 ? 2.0f : -2.0f});
}

void setSampled(SamplingParams& p, std::uint64_t seed) {
  p.temperature = 0.9f;
  p.topK = 50;
  p.topP = 0.95f;
  p.minP = 0.01f;
  p.seed = seed;
}

const std::vector<std::string>& allSets() {
  static const std::vector<std::string> all = {
      "plain",   "penalties",         "no-repeat",         "bias",         "combined",
      "sampled", "penalties+sampled", "no-repeat+sampled", "bias+sampled", "combined+sampled"};
  return all;
}

Error noSet(std::string_view name) {
  std::string known;
  for (const std::string& set : allSets())
    known += ", " + set;
  return {ErrorCode::kInvalidArgument,
          "there is no set of options '" + std::string(name) + "'; choose all or a list of" + known.substr(1),
          "options"};
}

}  // namespace

std::vector<std::string> splitList(std::string_view list) {
  std::vector<std::string> parts(1);
  for (const char c : list) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

Result<std::vector<std::string>> optionSetsByName(std::string_view names) {
  if (names == "all") return allSets();
  const std::vector<std::string> sets = splitList(names);
  for (const std::string& set : sets)
    if (std::ranges::find(allSets(), set) == allSets().end()) return noSet(set);
  return sets;
}

Result<SamplingParams> optionSet(std::string_view name, std::span<const TokenId> prompt, std::uint64_t seed) {
  if (std::ranges::find(allSets(), name) == allSets().end()) return noSet(name);
  SamplingParams p;
  const bool combined = name.starts_with("combined");
  if (combined || name.starts_with("penalties")) setPenalties(p);
  if (combined || name.starts_with("no-repeat")) setNoRepeat(p);
  if (combined || name.starts_with("bias")) setBias(p, prompt);
  if (name.ends_with(kSampled)) setSampled(p, seed);
  return p;
}

}  // namespace tandem::agreement
