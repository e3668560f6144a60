// tandem-cli sampled-dist: whether sampled answers, as they are served with speculation, follow the
// distribution of the target alone.
#include <algorithm>
#include <cstdio>
#include <map>

#include "app/cli/commands.h"
#include "app/cli/engine_choice.h"
#include "app/cli/interrupt.h"
#include "app/cli/prompt_list.h"
#include "app/cli/request_choice.h"
#include "engine/agreement/target_alone.h"
#include "engine/measure/goodness.h"
#include "engine/sampler/sampler.h"
#include "engine/session/generator.h"
#include "engine/speculation/options.h"

namespace tandem::cli {
namespace {

using agreement::TargetAlone;
using measure::Fit;

constexpr double kLeastP = 0.001;
constexpr int kPlaces = 20;  // cells of the places that tokens have in their distributions

constexpr Usage kUsage = {"sampled-dist", "--prompts FILE | --ids FILE [options]",
                          "Draws many answers to each prompt as they are served, and as many of the target "
                          "alone. Tests two things:\n"
                          "whether each served token lies in the target's distribution as a draw would, and "
                          "whether served answers\n"
                          "and those of the target alone have the same tokens at each place. Ends with 1 "
                          "when a probability that true\n"
                          "draws look so is below 0.001. Prompts stand one a line, with \\n for a newline, "
                          "and are continued as they are."};

struct SampledDistCommand {
  CommonOptions common;
  EngineChoice engine;
  SamplingChoice sampling;
  SpeculationOptions speculation;
  std::string prompts, ids;
  int tokens = 8, draws = 200;

  OptionTable table() {
    sampling.params.temperature = 1;
    OptionTable table = {
        {"--prompts", 0, "FILE", "texts, one a line; - is standard input", text(prompts)},
        {"--ids", 0, "FILE", "token ids in place of texts, one prompt a line", text(ids)},
        {"--tokens", 'n', "N", "tokens of each answer (8)", wholeNumber(tokens, 1, 1 << 20)},
        {"--draws", 0, "N", "answers to each prompt (200)", wholeNumber(draws, 20, 1 << 24)},
    };
    append(table, samplingTable(sampling));
    append(table, samplerTable(sampling.params));
    append(table, speculationTable(speculation));
    append(table, draftModelTable(engine));
    append(table, engineTable(engine));
    return table;
  }
};

// How often each token came at each place of the answers to one prompt.
using TokenCounts = std::vector<std::map<TokenId, std::int64_t>>;

void count(const std::vector<TokenId>& answer, TokenCounts& counts) {
  for (std::size_t i = 0; i < answer.size(); ++i)
    ++counts[i][answer[i]];
}

struct Report {
  std::vector<double> places;  // of all served tokens
  int impossible = 0;          // served tokens of probability 0
  int comparisons = 0;         // of served and alone: prompts times places in the answer
  double least = 1;            // p of these, multiplied by their number
  int worstPrompt = 0, worstPlace = 0;
  int accepted = 0, rejected = 0;

  Fit placesFit() const {
    std::vector<std::int64_t> cells(kPlaces);
    for (const double place : places)
      ++cells[std::min(static_cast<int>(place * kPlaces), kPlaces - 1)];
    return measure::chiSquare(cells, std::vector<double>(kPlaces, 1.0 / kPlaces));
  }
  bool passed() const {
    return impossible == 0 && placesFit().p >= kLeastP && measure::uniformity(places).p >= kLeastP &&
           least >= kLeastP;
  }
};

// Served and alone, place by place.
void compare(const TokenCounts& served, const TokenCounts& alone, int prompt,
             std::vector<std::tuple<double, int, int>>& all) {
  for (std::size_t i = 0; i < served.size(); ++i) {
    std::map<TokenId, std::int64_t> tokens = served[i];
    for (const auto& [token, times] : alone[i])
      tokens.try_emplace(token, 0);
    std::vector<std::int64_t> a, b;
    for (const auto& [token, times] : tokens) {
      a.push_back(times);
      const auto found = alone[i].find(token);
      b.push_back(found == alone[i].end() ? 0 : found->second);
    }
    const Fit fit = measure::chiSquareOfTwo(a, b);
    if (fit.degrees > 0) all.emplace_back(fit.p, prompt, static_cast<int>(i));
  }
}

class Drawing {
 public:
  Drawing(const SampledDistCommand& command, const SamplingParams& sampling, Generator& generator,
          Decoder& decoder, const std::atomic<bool>* cancel)
      : command_(command),
        sampling_(sampling),
        generator_(generator),
        alone_(decoder, sampling.seed),
        cancel_(cancel) {}

  Status addPrompt(const std::vector<TokenId>& prompt) {
    if (Status s = alone_.usePrompt(prompt, cancel_); !s.ok()) return s;
    TokenCounts served(command_.tokens), target(command_.tokens);
    for (int draw = 0; draw < command_.draws; ++draw) {
      sampling_.choice = static_cast<std::uint32_t>(draw);
      auto answer = serve(prompt);
      if (!answer.ok()) return answer.error();
      auto places = alone_.placesOf(*answer, sampling_, cancel_);
      if (!places.ok()) return places.error();
      for (const double place : *places)
        place < 0 ? void(++report_.impossible) : report_.places.push_back(place);
      count(*answer, served);
      sampling_.choice = static_cast<std::uint32_t>(command_.draws + draw);  // other noise
      answer = alone_.draw(sampling_, command_.tokens, cancel_);
      if (!answer.ok()) return answer.error();
      count(*answer, target);
    }
    compare(served, target, prompts_++, comparisons_);
    return {};
  }

  Report report() {
    report_.comparisons = static_cast<int>(comparisons_.size());
    if (comparisons_.empty()) return report_;
    const auto& [p, prompt, place] = *std::ranges::min_element(comparisons_);
    report_.least = std::min(1.0, p * report_.comparisons);
    report_.worstPrompt = prompt;
    report_.worstPlace = place;
    return report_;
  }

 private:
  Result<std::vector<TokenId>> serve(const std::vector<TokenId>& prompt) {
    Generation request;
    request.prompt = prompt;
    request.maxTokens = command_.tokens;
    request.sampling = sampling_;
    request.speculation = command_.speculation;
    GenerationOutcome outcome = generator_.run(request, {}, cancel_);
    if (outcome.stats.finish == FinishReason::kCancelled) return Error{ErrorCode::kCancelled, "stopped"};
    if (!outcome.status.ok()) return outcome.status.error();
    report_.accepted += outcome.stats.accepted;
    report_.rejected += outcome.stats.rejected();
    return std::move(outcome.tokens);
  }

  const SampledDistCommand& command_;
  SamplingParams sampling_;
  Generator& generator_;
  TargetAlone alone_;
  const std::atomic<bool>* cancel_;
  int prompts_ = 0;
  std::vector<std::tuple<double, int, int>> comparisons_;  // p, prompt, place in the answer
  Report report_;
};

nlohmann::json fitJson(const Fit& fit) {
  return {{"statistic", fit.statistic}, {"degrees", fit.degrees}, {"p", fit.p}};
}

void print(const SampledDistCommand& command, std::size_t prompts, std::uint64_t seed, const Model& model,
           const Report& report) {
  const Fit places = report.placesFit(), even = measure::uniformity(report.places);
  if (command.common.json) {
    printJson({{"model", model.file().path()},
               {"fingerprint", model.fingerprint()},
               {"prompts", prompts},
               {"draws", command.draws},
               {"tokens", report.places.size()},
               {"seed", seed},
               {"sampler", command.sampling.params.sampler == Sampler::kGumbel ? "gumbel" : "rejection"},
               {"drafters", drafterNames(command.speculation)},
               {"shape", draftShapeName(command.speculation.shape)},
               {"accepted", report.accepted},
               {"rejected", report.rejected},
               {"impossible", report.impossible},
               {"places", fitJson(places)},
               {"places_uniform", {{"distance", even.statistic}, {"p", even.p}}},
               {"served_and_alone",
                {{"comparisons", report.comparisons},
                 {"least_p", report.least},
                 {"prompt", report.worstPrompt},
                 {"token", report.worstPlace}}},
               {"passed", report.passed()}});
    return;
  }
  std::printf(
      "%zu prompts, %d answers each, seed %llu: %zu tokens served, %d accepted of drafts, %d rejected\n",
      prompts, command.draws, static_cast<unsigned long long>(seed), report.places.size(), report.accepted,
      report.rejected);
  std::printf("tokens of probability 0: %d\n", report.impossible);
  std::printf(
      "places in the target's distribution: chi-square %.1f of %d degrees, p %.4f; largest distance %.4f, p "
      "%.4f\n",
      places.statistic, places.degrees, places.p, even.statistic, even.p);
  std::printf(
      "served against alone: %d comparisons, the worst (prompt %d, token %d) has p %.4f for their number\n",
      report.comparisons, report.worstPrompt + 1, report.worstPlace + 1, report.least);
  std::puts(report.passed() ? "the served answers follow the target's distribution"
                            : "FAIL: the served answers do not follow the target's distribution");
}

Result<int> judge(const SampledDistCommand& command) {
  if (command.prompts.empty() == command.ids.empty()) {
    return badArgument("Give the prompts either with --prompts FILE or with --ids FILE.", "prompts");
  }
  const auto sampling = command.sampling.settled();
  if (!sampling) return sampling.error();
  if (sampling->greedy()) return badArgument("--temp 0 draws nothing; it must be above 0.", "temp");
  const auto model = loadModel(command.common, command.engine);
  if (!model) return model.error();
  const Tokenizer& tokenizer = (*model)->tokenizer();
  const auto prompts =
      command.ids.empty() ? readPrompts(command.prompts, tokenizer) : readPromptIds(command.ids, tokenizer);
  if (!prompts) return prompts.error();
  const DecoderOptions options{.kernels = command.engine.engine.kernels,
                               .threads = command.engine.threads,
                               .cacheType = command.engine.engine.cacheType};
  auto target = Decoder::create(*model, options), server = Decoder::create(*model, options);
  if (!target || !server) return (target ? server : target).error();
  Generator generator(**server);
  if (const std::string& path = command.engine.draftModel; !path.empty()) {
    auto draft = DraftModel::load(path, **model, options);
    if (!draft) return draft.error();
    generator.speculation().draftModel = std::move(*draft);
  }
  const Interrupt interrupt;
  Drawing drawing(command, *sampling, generator, **target, &interrupt.flag());
  for (const std::vector<TokenId>& prompt : *prompts) {
    if (const Status status = drawing.addPrompt(prompt); !status) {
      if (status.error().code != ErrorCode::kCancelled) return status.error();
      std::fputs("tandem-cli: stopped.\n", stderr);
      return kCheckFailed;
    }
  }
  const Report report = drawing.report();
  print(command, prompts->size(), sampling->seed, **model, report);
  return report.passed() ? kDone : kCheckFailed;
}

}  // namespace

int sampledDistCommand(const Arguments& arguments) {
  SampledDistCommand command;
  if (const auto status = readOptions(kUsage, command.table(), arguments, command.common)) return *status;
  const Result<int> status = judge(command);
  return status ? *status : fail(command.common, status.error());
}

}  // namespace tandem::cli
