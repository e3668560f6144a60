// The options that say how tokens are chosen and where an answer ends: shared by all subcommands that write
// one. docs/sampling.md has every value at its edges.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/options.h"
#include "engine/constraint/spec.h"
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

// What the answer's text must be; docs/structured-output.md.
struct ConstraintChoice {
  bool jsonObject = false;
  std::optional<std::string> schemaFile, regex, choices, grammarFile, toolsFile, tool;
  int maxCalls = 1;

  // Reads the files. Errors: those of readFile; kInvalidArgument when more than one form is asked for.
  Result<ConstraintSpec> settled() const;
};
// --json-object, --json-schema, --regex, --one-of, --grammar, --tools, --tool-choice, --tool-calls
OptionTable constraintTable(ConstraintChoice& choice);

}  // namespace tandem::cli
