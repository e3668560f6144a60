// The checks by which the engine proves itself on a model: the table of `tandem-cli verify`. Each compares
// bits, prints its figure, and can fail (tests plant faults that each must catch).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "engine/cache/prefix_cache.h"
#include "engine/cache/text_catalogue.h"
#include "engine/kernels/kernel_set.h"
#include "engine/model/model.h"
#include "engine/session/generation.h"

namespace tandem {

// How far two runs are apart.
struct Difference {
  double largest = 0;          // absolute, over all logits compared
  std::uint64_t bits = 0;      // differing bits over all values compared
  std::uint64_t compared = 0;  // values

  void add(std::span<const float> a, std::span<const float> b);
  bool none() const { return bits == 0; }
};

struct CheckResult {
  std::string name;    // "prefill = decode"
  std::string detail;  // what was compared
  Difference difference;
  std::optional<double> variation;  // of the checks that bound a distance (quantized_cache_checks.h)
  bool passed = false;
  double seconds = 0;
};

struct VerifyOptions {
  const kernels::KernelSet* kernels = nullptr;       // the set under test; null: the best
  std::vector<const kernels::KernelSet*> otherSets;  // compared with it
  std::vector<int> threadCounts = {1, 2, 4};
  kernels::CacheType cacheType = kernels::CacheType::kF16;
  int tokens = 96;               // of the batch-against-decode check
  int kernelTokens = 24;         // of the kernel-set check: the scalar set is slow
  int largestBatch = 33;         // rows of the row check
  int largestTree = 32;          // rows of the tree check
  int rejectedRounds = 40;       // of the check that rejects leave nothing
  int sharedPasses = 24;         // of the check of passes that several sequences share
  int generated = 256;           // tokens of each speculation run
  OpenTextIndex openIndex = {};  // of the files of texts; without it the disk is not checked
  CacheFaults cacheFaults = {};  // planted by tests
  DiskFaults diskFaults = {};
  const std::atomic<bool>* cancel = nullptr;
};

// The kernel sets other than `subject` that this CPU can run.
std::vector<const kernels::KernelSet*> otherKernelSets(const kernels::KernelSet& subject);

// Runs every check in turn and hands each result to `report`. Error only when a check could not be run at
// all.
Status runChecks(std::shared_ptr<const Model> model, const VerifyOptions& options,
                 const std::function<void(const CheckResult&)>& report);

}  // namespace tandem
