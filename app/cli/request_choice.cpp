#include "app/cli/request_choice.h"

#include <charconv>
#include <limits>

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
