#include "app/cli/bench_speed.h"

#include <algorithm>
#include <cstdio>

#include "app/cli/interrupt.h"
#include "engine/measure/rates.h"
#include "engine/measure/staircase.h"

namespace tandem::cli {
namespace {

constexpr int kPrompts[] = {512, 1000, 4096};
constexpr int kContexts[] = {16, 1000, 4000};
constexpr int kPassRows[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
constexpr int kProductRows[] = {1, 4, 8, 512};
constexpr int kShortContext = 16;
constexpr int kThroughputPrompt = 32;

class Speed {
 public:
  Speed(const SpeedOptions& options, service::LoadedEngine& engine, const std::atomic<bool>& cancel)
      : options_(options),
        engine_(engine),
        decoder_(engine.decoder()),
        model_(*engine.model()),
        layout_(decoder_.newSequence().kv.layout()),
        cancel_(cancel) {}

  Result<SpeedReport> run() {
    const SpeedSections& sections = options_.sections;
    const auto prompts = lengths(options_.promptTokens, kPrompts, 0);
    if (!prompts) return prompts.error();
    const auto contexts = lengths(options_.contexts, kContexts, options_.tokens + 1);
    if (!contexts) return contexts.error();
    report_.model = engine_.info().name;
    report_.fingerprint = engine_.info().fingerprint;
    report_.kernels = engine_.info().kernelSet;
    report_.threads = engine_.info().threads;
    report_.runs = options_.runs;
    report_.layers = measure::layersWork(model_, 1);
    report_.head = measure::headWork(model_, 1);
    Status status;
    if (sections.peaks) status = peaks();
    if (status.ok() && (sections.prefill || sections.decode || sections.staircase || sections.throughput))
      status = warmUp();
    if (status.ok() && sections.prefill) status = prefill(*prompts);
    if (status.ok() && sections.decode) status = decode(*contexts);
    if (status.ok() && sections.staircase) status = staircase();
    if (status.ok() && sections.throughput) status = throughput();
    if (!status.ok()) return status.error();
    return std::move(report_);
  }

 private:
  // The lengths asked for, or those of `standard` that fit. Error: one asked for and `more` tokens do not
  // fit.
  Result<std::vector<int>> lengths(const std::vector<int>& asked, std::span<const int> standard, int more) {
    const int room = engine_.info().contextLength - more;
    std::vector<int> chosen = asked;
    if (asked.empty()) {
      std::copy_if(standard.begin(), standard.end(), std::back_inserter(chosen),
                   [room](int length) { return length <= room; });
    }
    for (const int length : chosen) {
      if (length > room) {
        return badArgument("A context of " + std::to_string(engine_.info().contextLength) +
                               " tokens has no room for " + std::to_string(length + more) + ".",
                           "tokens");
      }
    }
    return chosen;
  }

  std::vector<TokenId> tokens(int count) const {
    return measure::fixedTokens(count, model_.config().vocabulary);
  }

  SpeedLine line(int size, int count, const std::vector<double>& ms, const measure::Work& work) const {
    SpeedLine line{
        .size = size, .tokens = count, .ms = spreadOf(ms), .firstToken = {}, .work = work, .shares = {}};
    if (report_.peaks) line.shares = measure::sharesOf(work, line.ms.median, *report_.peaks);
    return line;
  }

  Status peaks() {
    const std::uint64_t free = Model::plan(model_.file(), model_.config()).available;
    auto peaks = measure::measurePeaks(decoder_.kernels(), model_.weights().bytes, free, &cancel_);
    if (!peaks) return peaks.status();
    report_.peaks = *peaks;
    return {};
  }

  Status warmUp() { return measure::timeDecode(decoder_, tokens(kShortContext), 4, 1, &cancel_).status(); }

  Status prefill(const std::vector<int>& prompts) {
    for (const int length : prompts) {
      const auto times = measure::timePrefill(decoder_, tokens(length), options_.runs, &cancel_);
      if (!times) return times.status();
      report_.prefill.push_back(line(length, length, times->read,
                                     measure::prefillWork(model_, layout_, length, decoder_.maxRows())));
      report_.prefill.back().firstToken = spreadOf(times->firstToken);
    }
    return {};
  }

  Status decode(const std::vector<int>& contexts) {
    for (const int length : contexts) {
      const auto times =
          measure::timeDecode(decoder_, tokens(length), options_.tokens, options_.runs, &cancel_);
      if (!times) return times.status();
      report_.decode.push_back(line(length, options_.tokens, *times,
                                    measure::decodeWork(model_, layout_, length, options_.tokens)));
    }
    return {};
  }

  Status staircase() {
    const auto times =
        measure::timePasses(decoder_, tokens(kShortContext), kPassRows, options_.runs, &cancel_);
    if (!times) return times.status();
    for (std::size_t i = 0; i < std::size(kPassRows); ++i) {
      const int rows = kPassRows[i];
      report_.staircase.push_back(
          line(rows, rows, (*times)[i], measure::passWork(model_, layout_, kShortContext, rows, rows)));
    }
    for (const int rows : kProductRows) {
      const auto ms = measure::timeProducts(model_, decoder_.kernels(), decoder_.threads(), rows,
                                            options_.runs, &cancel_);
      if (cancel_.load()) return Error{ErrorCode::kCancelled, "stopped"};
      report_.products.push_back(line(rows, rows, ms, measure::layersWork(model_, rows)));
    }
    return {};
  }

  // One answer, then several at once.
  Status throughput() {
    std::vector<int> counts = {1};
    if (options_.parallel > 1) counts.push_back(options_.parallel);
    if (kThroughputPrompt + options_.tokens > engine_.info().contextLength) return {};
    const auto times =
        measure::timeTogether(decoder_, counts, kThroughputPrompt, options_.tokens, options_.runs, &cancel_);
    if (!times) return times.status();
    for (std::size_t i = 0; i < counts.size(); ++i) {
      report_.throughput.push_back(line(counts[i], counts[i] * options_.tokens, (*times)[i],
                                        measure::togetherWork(model_, layout_, counts[i], kThroughputPrompt,
                                                              options_.tokens, decoder_.maxRows())));
    }
    return {};
  }

  const SpeedOptions& options_;
  service::LoadedEngine& engine_;
  Decoder& decoder_;
  const Model& model_;
  const KvLayout layout_;
  const std::atomic<bool>& cancel_;
  SpeedReport report_;
};

}  // namespace

Result<SpeedSections> speedSections(std::string_view list) {
  SpeedSections chosen{
      .peaks = false, .prefill = false, .decode = false, .staircase = false, .throughput = false};
  for (const std::string_view name : listItems(list)) {
    bool* section = name == "peaks"        ? &chosen.peaks
                    : name == "prefill"    ? &chosen.prefill
                    : name == "decode"     ? &chosen.decode
                    : name == "staircase"  ? &chosen.staircase
                    : name == "throughput" ? &chosen.throughput
                                           : nullptr;
    if (section == nullptr) {
      return badArgument("there is no section '" + std::string(name) +
                             "'; choose some of peaks, prefill, decode, staircase, throughput",
                         "only");
    }
    *section = true;
  }
  return chosen;
}

Result<int> benchSpeed(const CommonOptions& common, const EngineChoice& choice, const SpeedOptions& options) {
  const auto engine = loadEngine(common, choice);
  if (!engine) return engine.error();
  const Interrupt interrupt;
  const auto report = Speed(options, **engine, interrupt.flag()).run();
  if (!report && report.error().code == ErrorCode::kCancelled) return kCheckFailed;
  if (!report) return report.error();
  common.json ? printJson(speedJson(*report)) : printSpeed(*report);
  const std::string wrong = report->impossible();
  if (wrong.empty()) return kDone;
  std::fflush(stdout);
  std::fprintf(stderr, "tandem-cli: %s\n", wrong.c_str());
  return kCheckFailed;
}

}  // namespace tandem::cli
