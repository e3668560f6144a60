#include "app/cli/request_choice.h"

#include <charconv>
#include <limits>

#include "app/cli/command.h"
#include "engine/sampler/sampler.h"

namespace tandem::cli {
namespace {

constexpr int kMaxInt = std::numeric_limits<int>::max();

Error notA(const char* what, std::string_view value) {
  return {ErrorCode::kInvalidArgument,
          std::string("must be ") + what + ", not \"" + std::string(value) + "\""};
}

// ID=B, one more each time.
Setter bias(std::vector<TokenBias>& out) {
  return [&out](std::string_view value) -> Status {
    const std::size_t equals = std::min(value.find('='), value.size());
    TokenBias added{};
    const auto id = wholeNumber(added.token, 0, kMaxInt)(value.substr(0, equals));
    if (!id.ok() || equals == value.size())
      return notA("a token id, '=' and what is added to its score", value);
    if (Status s = realNumber(added.bias)(value.substr(equals + 1)); !s.ok()) return s;
    out.push_back(added);
    return {};
  };
}

Setter oneMore(std::vector<std::string>& out) {
  return [&out](std::string_view value) {
    out.emplace_back(value);
    return Status();
  };
}

Setter oneMore(std::vector<TokenId>& out) {
  return [&out](std::string_view value) -> Status {
    TokenId token = 0;
    if (Status s = wholeNumber(token, 0, kMaxInt)(value); !s.ok()) return s;
    out.push_back(token);
    return {};
  };
}

Setter answerIndex(std::uint32_t& out) {
  return [&out](std::string_view value) -> Status {
    int index = 0;
    if (Status s = wholeNumber(index, 0, kMaxInt)(value); !s.ok()) return s;
    out = static_cast<std::uint32_t>(index);
    return {};
  };
}

Setter sampler(Sampler& out) {
  return [&out](std::string_view name) -> Status {
    if (name != "gumbel" && name != "rejection") return notA("gumbel or rejection", name);
    out = name == "gumbel" ? Sampler::kGumbel : Sampler::kRejection;
    return {};
  };
}

}  // namespace

OptionTable samplingTable(SamplingChoice& choice) {
  SamplingParams& p = choice.params;
  return {
      {"--temp", 0, "T", "temperature; 0 takes the likeliest token", realNumber(p.temperature)},
      {"--top-k", 0, "K", "keep the K likeliest tokens; 0: all",
       wholeNumber(p.topK, 0, std::numeric_limits<std::int64_t>::max())},
      {"--top-p", 0, "P", "keep the likeliest tokens up to this sum; 1: all", realNumber(p.topP)},
      {"--min-p", 0, "P", "drop tokens less likely than P times the best; 0: none", realNumber(p.minP)},
      {"--seed", 0, "S", "makes a sampled text repeatable", wholeNumber(choice.seed)},
      {"--choice", 0, "I", "which of several answers with this seed; 0: the first", answerIndex(p.choice)},
      {"--repetition-penalty", 0, "R", "weakens tokens of prompt and answer; 1: off",
       realNumber(p.repetitionPenalty)},
      {"--presence-penalty", 0, "P", "taken from tokens of the answer; 0: off",
       realNumber(p.presencePenalty)},
      {"--frequency-penalty", 0, "P", "the same for each time the token is there; 0: off",
       realNumber(p.frequencyPenalty)},
      {"--penalty-window", 0, "N", "penalties look at the last N tokens; 0: at all",
       wholeNumber(p.penaltyWindow, 0, kMaxInt)},
      {"--no-repeat-ngram-size", 0, "N", "no run of N tokens comes twice; 0: off",
       wholeNumber(p.noRepeatNgramSize, 0, kMaxInt)},
      {"--logit-bias", 0, "ID=B", "add B to a token's score; may be given more than once", bias(p.logitBias)},
  };
}

OptionTable samplerTable(SamplingParams& params) {
  return {{"--sampler", 0, "NAME",
           "gumbel, or rejection for measurement: a text then depends on what is drafted",
           sampler(params.sampler)}};
}

OptionTable endsTable(EndsChoice& choice) {
  return {
      {"--stop", 0, "TEXT", "end the answer before this text; may be given more than once",
       oneMore(choice.stop)},
      {"--stop-token", 0, "ID", "end the answer with this token; may be given more than once",
       oneMore(choice.stopTokens)},
      {"--min-tokens", 0, "N", "the answer has at least N tokens", wholeNumber(choice.minTokens, 0, kMaxInt)},
      {"--reasoning-budget", 0, "N", "close the model's thinking after N tokens; 0: no limit",
       wholeNumber(choice.reasoning.budget, 0, kMaxInt)},
      {"--stall-close", 0, "", "close the model's thinking when it goes in circles",
       on(choice.reasoning.stallClose)},
  };
}

OptionTable constraintTable(ConstraintChoice& choice) {
  return {
      {"--json-object", 0, "", "the answer is a JSON object", on(choice.jsonObject)},
      {"--json-schema", 0, "FILE", "the answer is JSON that this schema allows", text(choice.schemaFile)},
      {"--regex", 0, "REGEX", "the whole answer matches this regular expression", text(choice.regex)},
      {"--one-of", 0, "A|B", "the answer is one of the texts between the bars", text(choice.choices)},
      {"--grammar", 0, "FILE", "the answer matches this grammar, written in GBNF", text(choice.grammarFile)},
      {"--tools", 0, "FILE", "the answer calls one of these tools, a JSON list", text(choice.toolsFile)},
      {"--tool-choice", 0, "NAME", "with --tools: the tool that is called", text(choice.tool)},
      {"--tool-calls", 0, "N", "with --tools: at most so many calls", wholeNumber(choice.maxCalls, 1, 100)},
  };
}

Result<ConstraintSpec> ConstraintChoice::settled() const {
  const int asked = jsonObject + schemaFile.has_value() + regex.has_value() + choices.has_value() +
                    grammarFile.has_value() + toolsFile.has_value();
  if (asked > 1) {
    return badArgument(
        "Only one of --json-object, --json-schema, --regex, --one-of, --grammar and --tools can be asked "
        "for.",
        "constraint");
  }
  if (!toolsFile && (tool || maxCalls > 1)) return badArgument("This needs --tools.", "tools");
  ConstraintSpec spec;
  if (jsonObject) return ConstraintSpec::jsonObject();
  if (regex) return ConstraintSpec::regex(*regex);
  if (choices) {
    spec.kind = ConstraintSpec::Kind::kChoice;
    for (std::size_t begin = 0; begin <= choices->size();) {
      const std::size_t bar = std::min(choices->find('|', begin), choices->size());
      spec.choices.push_back(choices->substr(begin, bar - begin));
      begin = bar + 1;
    }
    return spec;
  }
  if (asked == 0) return spec;
  spec.kind = schemaFile    ? ConstraintSpec::Kind::kJsonSchema
              : grammarFile ? ConstraintSpec::Kind::kGrammar
                            : ConstraintSpec::Kind::kToolCalls;
  Result<std::string> text = readFile(schemaFile ? *schemaFile : grammarFile ? *grammarFile : *toolsFile);
  if (!text) return text.error();
  spec.text = std::move(*text);
  spec.tool = tool.value_or("");
  spec.maxCalls = maxCalls;
  return spec;
}

Result<SamplingParams> SamplingChoice::settled() const {
  if (const Status status = checkSampling(params); !status) return status.error();
  SamplingParams result = params;
  if (seed) {
    result.seed = *seed;
  } else if (!params.greedy()) {
    result.seed = freshSeed();
  }
  return result;
}

}  // namespace tandem::cli
