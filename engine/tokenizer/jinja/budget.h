// What one parse or render may cost. The figures and their reasons are in docs/chat-templates.md.
//
// Work is counted in units: one for each node evaluated or item produced, and one for every 16 bytes
// allocated, so that a bound on work is a bound on memory too. Everything allocated lives until the render
// ends (arena.h), so `units * 16` bytes is also the most a render can hold.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/tokenizer/jinja/failure.h"

namespace tandem::jinja {

inline constexpr std::size_t kMaxSourceBytes = std::size_t{256} << 10;
inline constexpr int kMaxNesting = 100;  // of expressions and blocks in a template's source
inline constexpr int kMaxDepth = 220;    // of evaluation: nested nodes, macro calls, iterators, values
inline constexpr std::int64_t kMaxRange = 100000;  // items of one range(), as the Python sandbox has it
inline constexpr std::uint64_t kBaseUnits = 2'000'000;
inline constexpr std::uint64_t kBaseOutputBytes = std::uint64_t{8} << 20;
inline constexpr std::uint64_t kUnitBytes = 16;
inline constexpr std::uint64_t kUnitScanBytes = 64;

class Budget {
 public:
  // `inputBytes` is the size of the request; a longer conversation may cost more.
  explicit Budget(std::uint64_t inputBytes)
      : unitsLeft_(kBaseUnits + 4 * inputBytes), outputLeft_(kBaseOutputBytes + 4 * inputBytes) {}

  void spend(std::uint64_t units) {
    if (units > unitsLeft_) {
      unitsLeft_ = 0;
      fail(FailureKind::kBudget, "it used up its budget of steps and memory");
    }
    unitsLeft_ -= units;
  }
  void spendBytes(std::uint64_t bytes) { spend(bytes / kUnitBytes + 1); }
  // For bytes that are only looked at: compared, hashed, searched.
  void spendScan(std::uint64_t bytes) { spend(bytes / kUnitScanBytes + 1); }

  void spendOutput(std::uint64_t bytes) {
    if (bytes > outputLeft_) fail(FailureKind::kBudget, "it used up its budget of output bytes");
    outputLeft_ -= bytes;
  }

 private:
  friend class DepthGuard;
  std::uint64_t unitsLeft_;
  std::uint64_t outputLeft_;
  int depth_ = 0;
};

// Counts one level of nesting for as long as it lives.
class DepthGuard {
 public:
  // A level of evaluation.
  explicit DepthGuard(Budget& budget) : DepthGuard(budget.depth_, kMaxDepth) {}
  DepthGuard(int& depth, int limit) : depth_(depth) {
    if (depth_ >= limit) fail(FailureKind::kBudget, "it is nested too deeply");
    ++depth_;
  }
  ~DepthGuard() { --depth_; }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;

 private:
  int& depth_;
};

}  // namespace tandem::jinja
