// tandem-cli bench --workload: the workloads' rates, plain and speculative.
#pragma once

#include <string>

#include "app/cli/engine_choice.h"

namespace tandem::cli {

struct WorkloadOptions {
  std::string workload;  // a name, or "all"
  SpeculationOptions speculation;
  int tokens = 128;  // of each answer
  int runs = 3;      // of each side
};

// Measures and prints. Returns the exit status: 1 when a text differs from the plain one, or when stopped.
// Errors: bad input.
Result<int> benchWorkloads(const CommonOptions& common, const EngineChoice& choice,
                           const WorkloadOptions& options);

}  // namespace tandem::cli
