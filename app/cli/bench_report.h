// What `bench` found out about a workload, as text and as JSON.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/measure/repeats.h"
#include "engine/measure/simulator.h"

namespace tandem::cli {

// Median of some runs, and how far they lie apart.
struct Spread {
  double median = 0, least = 0, most = 0;
};
Spread spreadOf(const std::vector<double>& values);  // REQUIRES: not empty
nlohmann::json spreadJson(const Spread& spread);
std::string spreadText(const Spread& spread);  // "median (least to most)"

struct WorkloadReport {
  std::string name;
  int prompts = 0;
  int leftOut = 0;                                  // answers that repeat themselves
  int runs = 0;                                     // of each side
  int tokens = 0;                                   // of the answers that count
  bool sameText = true;                             // every speculated answer was the plain one
  Spread prefill = {};                              // prompt tokens per second
  Spread plain = {}, speculated = {};               // tokens per second of the decode phase
  Spread gain = {};                                 // of each pair of runs
  int rounds = 0, drafted = 0, accepted = 0;        // of one speculated run
  std::map<int, std::vector<double>> roundMs = {};  // by the pass's rows: what the rounds took, all runs
  measure::Staircase staircase = {};                // the verify pass alone
  measure::Simulation attainable = {};              // the best fixed shape, by the simulator

  bool measured() const { return leftOut < prompts; }
  double tokensPerRound() const { return rounds > 0 ? 1 + static_cast<double>(accepted) / rounds : 0; }
  double acceptance() const { return drafted > 0 ? static_cast<double>(accepted) / drafted : 0; }
};

nlohmann::json reportJson(const WorkloadReport& report);
void printReport(const WorkloadReport& report);

}  // namespace tandem::cli
