// The options that say how tokens are chosen and where an answer ends: shared by all subcommands that write
// one. docs/sampling.md has every value at its edges.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/options.h"
#include "engine/session/generation.h"
#include "engine/session/reasoning_options.h"

namespace tandem::cli {

struct SamplingChoice {
  SamplingParams params;
  std::optional<std::uint64_t> seed;

  // The parameters with their seed, which is drawn when it is needed and none was given. Error:
  // kInvalidArgument.
  Result<SamplingParams> settled() const;
};
// --temp, --top-k, --top-p, --min-p, --seed, --choice, penalties, --no-repeat-ngram-size, --logit-bias.
OptionTable samplingTable(SamplingChoice& choice);
OptionTable samplerTable(SamplingParams& params);  // --sampler

struct EndsChoice {
  std::vector<std::string> stop;
  std::vector<TokenId> stopTokens;
  int minTokens = 0;
  ReasoningOptions reasoning;
};
// --stop, --stop-token, --min-tokens, --reasoning-budget, --stall-close
OptionTable endsTable(EndsChoice& choice);

}  // namespace tandem::cli
