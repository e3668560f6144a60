// tandem-cli run: one completion to standard output.
#include <cmath>
#include <cstdio>
#include <limits>

#include "app/cli/commands.h"
#include "app/cli/draft_texts.h"
#include "app/cli/engine_choice.h"
#include "app/cli/interrupt.h"
#include "app/cli/request_choice.h"
#include "app/cli/statistics.h"
#include "app/service/prompt.h"
#include "engine/speculation/options.h"

namespace tandem::cli {
namespace {

constexpr Usage kUsage = {"run", "-p TEXT | -f FILE [options]",
                          "Writes one completion to standard output, statistics and a fingerprint of the "
                          "logits to standard error.\n"
                          "The prompt goes through the model's chat template; with --raw it is continued as "
                          "it is. A file's bytes are\n"
                          "taken as they are, the newline at its end included."};

struct RunOptions {
  CommonOptions common;
  EngineChoice engine;
  SamplingChoice sampling;
  SpeculationOptions speculation;
  std::optional<std::string> prompt, file, system;
  std::optional<std::string> reference;
  EndsChoice ends;
  ConstraintChoice form;
  int tokens = 0;
  bool raw = false;
  bool explain = false;
  bool ids = false;

  OptionTable table() {
    OptionTable table = {
        {"--prompt", 'p', "TEXT", "the prompt", text(prompt)},
        {"--file", 'f', "FILE", "the prompt's file; - is standard input", text(file)},
        {"--system", 0, "TEXT", "a system message before the prompt", text(system)},
        {"--raw", 0, "", "no chat template", on(raw)},
        {"--tokens", 'n', "N", "at most N new tokens; 0: until the context is full",
         wholeNumber(tokens, 0, std::numeric_limits<int>::max())},
        {"--ids", 0, "", "print token ids in place of text", on(ids)},
        {"--explain", 0, "", "tell on standard error what each round drafted, and why", on(explain)},
        {"--reference", 0, "FILE", "the answer's token ids, for the drafters oracle, half-right and random",
         text(reference)},
        {"--logprobs", 0, "N", "with --json: each token's log probability and the N likeliest's",
         wholeNumber(sampling.params.logprobs, 0, kMaxLogprobs)},
    };
    append(table, endsTable(ends));
    append(table, constraintTable(form));
    append(table, samplingTable(sampling));
    append(table, samplerTable(sampling.params));
    append(table, speculationTable(speculation));
    append(table, draftModelTable(engine));
    append(table, engineTable(engine));
    append(table, contextTable(engine));
    return table;
  }
};

Result<service::GenerateRequest> requestOf(const RunOptions& options) {
  if (options.prompt.has_value() == options.file.has_value()) {
    return badArgument("Give the prompt either with -p TEXT or with -f FILE.", "prompt");
  }
  if (options.raw && options.system) {
    return badArgument("--system needs the chat template that --raw leaves out.", "system");
  }
  Result<std::string> prompt =
      options.prompt ? Result<std::string>(*options.prompt) : readFile(*options.file);
  if (!prompt) return prompt.error();
  Result<SamplingParams> sampling = options.sampling.settled();
  if (!sampling) return sampling.error();

  service::GenerateRequest request;
  request.sampling = *sampling;
  request.maxTokens = options.tokens;
  request.speculation = options.speculation;
  request.stop = options.ends.stop;
  request.stopTokens = options.ends.stopTokens;
  request.minTokens = options.ends.minTokens;
  request.reasoning = options.ends.reasoning;
  Result<ConstraintSpec> form = options.form.settled();
  if (!form) return form.error();
  request.constraint = std::move(*form);
  if (options.reference) {
    Result<std::vector<TokenId>> ids = readIds(*options.reference);
    if (!ids) return ids.error();
    request.speculation.reference = std::move(*ids);
  }
  if (const Status status = checkSpeculation(request.speculation); !status) return status.error();
  if (options.raw) {
    request.rawPrompt = std::move(*prompt);
  } else {
    if (options.system) request.messages.push_back({"system", *options.system});
    request.messages.push_back({"user", std::move(*prompt)});
  }
  return request;
}

// Writes pieces as they come: text or ids, unless all is kept for one JSON object.
class Output {
 public:
  explicit Output(const RunOptions& options) : live_(!options.common.json), ids_(options.ids) {}

  void add(const TextPiece& piece) {
    text_ += piece.text;
    logprobs_.insert(logprobs_.end(), piece.logprobs.begin(), piece.logprobs.end());
    if (!live_) return;
    if (ids_) {
      for (const PieceToken& token : piece.tokens) {
        std::printf("%s%d", any_ ? " " : "", token.id);
        any_ = true;
      }
    } else {
      std::fwrite(piece.text.data(), 1, piece.text.size(), stdout);
    }
    std::fflush(stdout);
  }
  void end() {
    if (live_) std::putchar('\n');
    std::fflush(stdout);  // before the statistics, where both go to one pipe
  }
  const std::string& text() const { return text_; }
  const std::vector<ChosenLogprobs>& logprobs() const { return logprobs_; }

 private:
  const bool live_, ids_;
  bool any_ = false;
  std::string text_;
  std::vector<ChosenLogprobs> logprobs_;
};

// One object for each token. What has probability 0 has null.
nlohmann::json logprobsJson(const std::vector<ChosenLogprobs>& all) {
  const auto number = [](double logprob) {
    return std::isfinite(logprob) ? nlohmann::json(logprob) : nlohmann::json();
  };
  nlohmann::json list = nlohmann::json::array();
  for (const ChosenLogprobs& one : all) {
    nlohmann::json top = nlohmann::json::array();
    for (const TokenLogprob& t : one.top)
      top.push_back({{"id", t.token}, {"logprob", number(t.logprob)}});
    list.push_back({{"logprob", number(one.chosen)}, {"top", top}});
  }
  return list;
}

void warn(const std::string& sentence) {
  std::fprintf(stderr, "tandem-cli: warning: %s\n", sentence.c_str());
}

// One line a round: what was drafted and accepted, what it took, and why.
void explainRound(const RoundReport& r) {
  std::fprintf(stderr, "round %d at %d: %d of %d accepted, draft %.2f + verify %.2f + commit %.2f ms: %s\n",
               r.round, r.context, r.accepted, r.drafted, r.draftMs, r.verifyMs, r.commitMs,
               r.reason.c_str());
}

Result<int> complete(const RunOptions& options) {
  const Result<service::GenerateRequest> request = requestOf(options);
  if (!request) return request.error();
  EngineChoice choice = options.engine;
  // Earlier conversations are looked in where a home is named; what `run` writes is not added to them.
  if (options.common.home) {
    const Result<Places> places = placesOf(options.common);
    if (!places) return places.error();
    choice.engine.openStore = draftTextsIn(*places);
  }
  const auto engine = loadEngine(options.common, choice);
  if (!engine) return engine.error();
  for (const std::string& warning : (*engine)->info().warnings)
    warn(warning);
  Result<std::vector<TokenId>> prompt = service::promptIds(*(*engine)->model(), *request);
  if (!prompt) return prompt.error();
  const auto constraint = (*engine)->constraints().find(request->constraint);
  if (!constraint) return constraint.error();

  const Generation generation{.prompt = std::move(*prompt),
                              .answerSoFar = {},
                              .sampling = request->sampling,
                              .maxTokens = request->maxTokens,
                              .contextLength = (*engine)->info().contextLength,
                              .speculation = request->speculation,
                              .stop = request->stop,
                              .stopTokens = request->stopTokens,
                              .minTokens = request->minTokens,
                              .reasoning = request->reasoning,
                              .constraint = *constraint};
  Output output(options);
  const Interrupt interrupt;
  const GenerationOutcome outcome = (*engine)->generator().run(
      generation,
      {.piece = [&](const TextPiece& piece) { output.add(piece); },
       .round = options.explain ? explainRound : std::function<void(const RoundReport&)>(),
       .warning = warn},
      &interrupt.flag());
  if (!outcome.tokens.empty()) output.end();
  if (!outcome.status) return outcome.status.error();

  if (options.common.json) {
    nlohmann::json json = {
        {"text", output.text()},
        {"ids", outcome.tokens},
        {"prompt_ids", generation.prompt},
        {"model", (*engine)->info().name},
        {"model_fingerprint", (*engine)->info().fingerprint},
        {"kernels", (*engine)->info().kernelSet},
        {"threads", (*engine)->info().threads},
        {"load_ms", (*engine)->info().loadMs},
        {"weights_were_kept", (*engine)->info().weightsWereKept},
        {"reasoning",
         {{"tokens", outcome.reasoning.tokens}, {"end", reasoningEndName(outcome.reasoning.end)}}},
        {"stats", statisticsJson(outcome.stats)}};
    if (request->sampling.logprobs >= 0) json["logprobs"] = logprobsJson(output.logprobs());
    printJson(json);
  }
  std::fputs(statisticsText(outcome.stats).c_str(), stderr);
  return outcome.stats.finish == FinishReason::kCancelled ? kCheckFailed : kDone;
}

}  // namespace

int runCommand(const Arguments& arguments) {
  RunOptions options;
  if (const auto status = readOptions(kUsage, options.table(), arguments, options.common)) return *status;
  const Result<int> status = complete(options);
  return status ? *status : fail(options.common, status.error());
}

}  // namespace tandem::cli
