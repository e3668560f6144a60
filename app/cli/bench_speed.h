// tandem-cli bench without a workload: prefill, plain decoding, passes by their rows and the layers'
// products, each beside the machine's peaks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/bench_report.h"
#include "app/cli/engine_choice.h"
#include "engine/measure/peaks.h"
#include "engine/measure/work.h"

namespace tandem::cli {

struct SpeedSections {
  bool peaks = true, prefill = true, decode = true, staircase = true, throughput = true;
};
// From names separated by commas. Error: kInvalidArgument, listing them.
Result<SpeedSections> speedSections(std::string_view list);

struct SpeedOptions {
  SpeedSections sections;
  std::vector<int> promptTokens,
      contexts;      // empty: what fits the model of 512, 1000, 4096 and 16, 1000, 4000
  int tokens = 64;   // decoded behind each context, and of each answer at once with others
  int parallel = 4;  // answers at once
  int runs = 3;
};

// One measured figure. Rates and shares are those of the median time.
struct SpeedLine {
  int size = 0;                      // tokens of the prompt, of the context, rows, or answers at once
  int tokens = 0;                    // that were read or decoded: what the rate counts
  Spread ms;                         // for all of them
  std::optional<Spread> firstToken;  // ms until the first token is chosen, of a prefill
  measure::Work work;
  std::optional<measure::Shares> shares;  // where the peaks were measured

  double bytesPerSecond() const { return work.bytes * 1000 / ms.median; }
  double multiplyAddsPerSecond() const { return work.multiplyAdds() * 1000 / ms.median; }
};

struct SpeedReport {
  std::string model, fingerprint, kernels;
  int threads = 0, runs = 0;
  measure::Work layers, head;  // of one row
  std::optional<measure::Peaks> peaks;
  std::vector<SpeedLine> prefill, decode, staircase, products,
      throughput;  // empty: the section was not chosen

  // What is wrong where a figure is above a peak: a sentence; empty when nothing is.
  std::string impossible() const;
};
nlohmann::json speedJson(const SpeedReport& report);
void printSpeed(const SpeedReport& report);

// Measures and prints. Returns the exit status: 1 when a figure is above a peak, or when stopped. Errors: bad
// input.
Result<int> benchSpeed(const CommonOptions& common, const EngineChoice& choice, const SpeedOptions& options);

}  // namespace tandem::cli
