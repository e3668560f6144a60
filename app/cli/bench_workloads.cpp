// Decode rates of the fixed workloads, plain and speculative in turn, beside what a simulator says could be
// had.
#include "app/cli/bench_workloads.h"

#include <algorithm>
#include <cstdio>

#include "app/cli/bench_report.h"
#include "app/cli/interrupt.h"
#include "app/cli/workloads.h"
#include "engine/speculation/options.h"

namespace tandem::cli {
namespace {

// Shapes that the simulator tries.
constexpr int kChains[] = {1, 2, 3, 4, 5, 6, 7, 11, 15, 23, 31};
constexpr int kTrees[] = {7, 15, 31};

constexpr int kSweeps = 3;  // passes of each row count after each run

struct Answer {
  std::vector<TokenId> prompt, tokens;
  bool counts = true;
};

// Sums over the answers of one run of one side.
struct Side {
  double decodeMs = 0, prefillMs = 0, commitMs = 0;
  int decoded = 0, prefilled = 0;

  void add(const GenerationStats& stats) {
    decodeMs += stats.decodeMs;
    prefillMs += stats.prefillMs;
    commitMs += stats.commitMs;
    decoded += stats.completionTokens - 1;
    prefilled += stats.promptTokens;
  }
  double rate() const { return decodeMs > 0 ? decoded * 1000.0 / decodeMs : 0; }
  double commit() const { return commitMs / std::max(decoded, 1); }  // of a token
  double prefillRate() const { return prefillMs > 0 ? prefilled * 1000.0 / prefillMs : 0; }
};

class Bench {
 public:
  Bench(const WorkloadOptions& options, service::LoadedEngine& engine, const std::atomic<bool>& cancel)
      : options_(options), engine_(engine), cancel_(cancel) {}

  Result<WorkloadReport> run(const Workload& workload) {
    report_ = {
        .name = workload.name, .prompts = static_cast<int>(workload.prompts.size()), .runs = options_.runs};
    sampling_ = workload.sampling;
    answers_.clear();
    sweeps_.clear();
    for (const std::string& prompt : workload.prompts) {
      auto ids = engine_.model()->tokenizer().encode(prompt, Bos::kAsModel);
      if (!ids) return ids.error();
      answers_.push_back({std::move(*ids), {}});
    }
    if (Status s = findAnswers(); !s.ok()) return s.error();
    if (!report_.measured()) return report_;
    if (Status s = measure(); !s.ok()) return s.error();
    simulateShapes();
    return report_;
  }

 private:
  Result<GenerationOutcome> generate(const Answer& answer, const SpeculationOptions& speculation,
                                     const GenerationCallbacks& callbacks = {}) {
    Generation request;
    request.prompt = answer.prompt;
    request.sampling = sampling_;
    request.maxTokens = options_.tokens;
    request.contextLength = engine_.info().contextLength;
    request.speculation = speculation;
    request.speculation.reference = answer.tokens;
    request.fingerprint = false;
    GenerationOutcome outcome = engine_.generator().run(request, callbacks, &cancel_);
    if (!outcome.status.ok()) return outcome.status.error();
    if (outcome.stats.finish == FinishReason::kCancelled) return Error{ErrorCode::kCancelled, "stopped"};
    return outcome;
  }

  // The plain answers, and which of them count. Warms everything up.
  Status findAnswers() {
    for (Answer& answer : answers_) {
      auto plain = generate(answer, SpeculationOptions::off());
      if (!plain) return plain.status();
      answer.tokens = std::move(plain->tokens);
      answer.counts = answer.tokens.size() > 1 && !measure::repeatsItself(answer.tokens);
      if (answer.counts) {
        report_.tokens += static_cast<int>(answer.tokens.size());
      } else {
        ++report_.leftOut;
      }
    }
    return {};
  }

  Status measure() {
    std::vector<double> plainRates, speculatedRates, gains, prefillRates, commits;
    for (int run = 0; run < options_.runs; ++run) {
      Side plain, speculated;
      for (const Answer& answer : answers_) {
        if (!answer.counts) continue;
        const auto a = generate(answer, SpeculationOptions::off());
        if (!a) return a.status();
        plain.add(a->stats);
        if (Status s = runSpeculated(answer, run == 0, speculated); !s.ok()) return s;
      }
      plainRates.push_back(plain.rate());
      speculatedRates.push_back(speculated.rate());
      prefillRates.push_back(plain.prefillRate());
      commits.push_back(plain.commit());
      gains.push_back(plain.rate() > 0 ? speculated.rate() / plain.rate() : 0);
      if (Status s = sweep(); !s.ok()) return s;
    }
    report_.plain = spreadOf(plainRates);
    report_.speculated = spreadOf(speculatedRates);
    report_.prefill = spreadOf(prefillRates);
    report_.gain = spreadOf(gains);
    commitMs_ = measure::median(commits);
    return {};
  }

  Status runSpeculated(const Answer& answer, bool first, Side& side) {
    GenerationCallbacks callbacks;
    callbacks.round = [this](const RoundReport& round) {
      report_.roundMs[round.drafted + 1].push_back(round.draftMs + round.verifyMs + round.commitMs);
    };
    const auto outcome = generate(answer, options_.speculation, callbacks);
    if (!outcome) return outcome.status();
    side.add(outcome->stats);
    report_.sameText = report_.sameText && outcome->tokens == answer.tokens;
    if (first) {
      report_.rounds += outcome->stats.rounds;
      report_.drafted += outcome->stats.drafted;
      report_.accepted += outcome->stats.accepted;
    }
    return {};
  }

  // What passes cost in the middle of the first answer. Once in each run, so that a machine that is busy at
  // times is so for all that is compared.
  Status sweep() {
    const Answer& first =
        *std::find_if(answers_.begin(), answers_.end(), [](const Answer& a) { return a.counts; });
    std::vector<TokenId> context = first.prompt;
    context.insert(context.end(), first.tokens.begin(), first.tokens.begin() + first.tokens.size() / 2);
    auto staircase =
        measure::measureStaircase(engine_.decoder(), context, kMaxDraftNodes + 1, kSweeps, &cancel_);
    if (!staircase) return staircase.status();
    sweeps_.push_back(std::move(*staircase));
    return {};
  }

  // The fixed shape that is best for all the answers, on the median of the sweeps.
  void simulateShapes() {
    for (int rows = 1; rows <= kMaxDraftNodes + 1; ++rows) {
      std::vector<double> times;
      for (const measure::Staircase& staircase : sweeps_)
        times.push_back(staircase.of(rows));
      report_.staircase.ms.push_back(measure::median(std::move(times)));
    }
    consider(SpeculationOptions::off());
    SpeculationOptions speculation = options_.speculation;
    if (speculation.automatic) speculation = SpeculationOptions::of({TokenOrigin::kOwnText});
    if (speculation.drafters.empty()) return;
    for (const int nodes : kChains) {
      speculation.shape = {DraftShape::Kind::kChain, nodes};
      consider(speculation);
    }
    for (const int nodes : kTrees) {
      speculation.shape = {DraftShape::Kind::kTree, nodes};
      consider(speculation);
    }
  }

  void consider(const SpeculationOptions& speculation) {
    measure::Simulation sum{.speculation = speculation};
    for (const Answer& answer : answers_) {
      if (!answer.counts) continue;
      SpeculationOptions own = speculation;
      own.reference = answer.tokens;
      const measure::Simulation one = measure::simulate(
          answer.prompt, answer.tokens, own, engine_.generator().speculation(),
          engine_.model()->config().vocabulary, {report_.staircase, commitMs_, 1000 / report_.plain.median});
      sum.rounds += one.rounds;
      sum.drafted += one.drafted;
      sum.accepted += one.accepted;
      sum.plainMs += one.plainMs;
      sum.ms += one.ms;
    }
    if (sum.gain() > report_.attainable.gain()) report_.attainable = sum;
  }

  const WorkloadOptions& options_;
  service::LoadedEngine& engine_;
  const std::atomic<bool>& cancel_;
  SamplingParams sampling_;
  std::vector<Answer> answers_;
  std::vector<measure::Staircase> sweeps_;
  double commitMs_ = 0;  // choosing and committing a token
  WorkloadReport report_;
};

}  // namespace

Result<int> benchWorkloads(const CommonOptions& common, const EngineChoice& choice,
                           const WorkloadOptions& options) {
  const auto workloads = workloadsByName(options.workload);
  if (!workloads) return workloads.error();
  const auto engine = loadEngine(common, choice);
  if (!engine) return engine.error();
  const Interrupt interrupt;
  Bench bench(options, **engine, interrupt.flag());
  nlohmann::json reports = nlohmann::json::array();
  bool sameText = true;
  for (const Workload& workload : *workloads) {
    const auto report = bench.run(workload);
    if (!report && report.error().code == ErrorCode::kCancelled) return kCheckFailed;
    if (!report) return report.error();
    sameText = sameText && report->sameText;
    if (common.json) {
      reports.push_back(reportJson(*report));
    } else {
      printReport(*report);
    }
  }
  if (common.json) {
    printJson({{"model", (*engine)->info().name},
               {"model_fingerprint", (*engine)->info().fingerprint},
               {"kernels", (*engine)->info().kernelSet},
               {"threads", (*engine)->info().threads},
               {"spec", drafterNames(options.speculation)},
               {"shape", draftShapeName(options.speculation.shape)},
               {"tokens", options.tokens},
               {"workloads", reports}});
  }
  return sameText ? kDone : kCheckFailed;
}

}  // namespace tandem::cli
