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
// Nesting. Together these keep every recursion inside 128 KiB of stack (measured on x86-64, optimised).
inline constexpr int kMaxNesting = 64;     // of brackets, operators and blocks in a template's source
inline constexpr int kMaxTreeDepth = 128;  // of one expression: links of a chain like a.b.c|f|g count as well
inline constexpr int kMaxDepth = 300;      // of evaluation: nested nodes and iterators
inline constexpr int kMacroDepth = 2;      // what a macro call counts for in addition
inline constexpr int kValueDepth = 2;      // what one list or dictionary inside another counts for

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

// Counts levels of nesting for as long as it lives.
class DepthGuard {
 public:
  // Levels of evaluation.
  explicit DepthGuard(Budget& budget, int levels = 1) : DepthGuard(budget.depth_, kMaxDepth, levels) {}
  DepthGuard(int& depth, int limit, int levels = 1) : depth_(depth), levels_(levels) {
    if (depth_ + levels > limit) fail(FailureKind::kBudget, "it is nested too deeply");
    depth_ += levels;
  }
  ~DepthGuard() { depth_ -= levels_; }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;

 private:
  int& depth_;
  const int levels_;
};

}  // namespace tandem::jinja
