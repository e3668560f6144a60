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

// The forms are so long that drafts of them are worth while, and so short that 48 tokens can hold them.
ConstraintSpec formOf(std::string_view name) {
  if (name == "json-schema")
    return ConstraintSpec::jsonSchema(R"({"type":"array","minItems":2,"maxItems":6,"items":{"type":"object",
      "properties":{"id":{"type":"integer","minimum":0,"maximum":999},"tag":{"type":"string","maxLength":5}},
      "required":["id"],"additionalProperties":false}})");
  if (name == "regex") return ConstraintSpec::regex("([A-Za-z]{1,8}, ){5,9}[0-9]{1,12}\\.");
  if (name == "tool-call")
    return {.kind = ConstraintSpec::Kind::kToolCalls,
            .text = R"([{"name":"find","parameters":{"type":"object","properties":{"q":{"type":"string",
              "maxLength":12},"n":{"type":"integer"}},"required":["q"],"additionalProperties":false}},
              {"name":"stop"}])"};
  return {};
}

const std::vector<std::string>& allSets() {
  static const std::vector<std::string> all = [] {
    const char* const bases[] = {"penalties",   "no-repeat", "bias",     "combined",
                                 "json-schema", "regex",     "tool-call"};
    std::vector<std::string> sets = {"plain"};
    for (const char* base : bases)
      sets.push_back(base);
    sets.emplace_back(kSampled);
    for (const char* base : bases)
      sets.push_back(std::string(base) + "+" + std::string(kSampled));
    return sets;
  }();
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

bool isSampled(std::string_view name) {
  return name.ends_with(kSampled);
}

std::string_view withoutSampled(std::string_view name) {
  if (name == kSampled) return "plain";
  return isSampled(name) ? name.substr(0, name.size() - kSampled.size() - 1) : name;
}

Result<OptionSet> optionSet(std::string_view name, std::span<const TokenId> prompt, std::uint64_t seed) {
  if (std::ranges::find(allSets(), name) == allSets().end()) return noSet(name);
  const std::string_view base = withoutSampled(name);
  OptionSet set;
  set.form = formOf(base);
  const bool combined = base == "combined";
  if (combined || base == "penalties") setPenalties(set.sampling);
  if (combined || base == "no-repeat") setNoRepeat(set.sampling);
  if (combined || base == "bias") setBias(set.sampling, prompt);
  if (isSampled(name)) setSampled(set.sampling, seed);
  return set;
}

}  // namespace tandem::agreement
