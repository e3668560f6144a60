#include "engine/speculation/verify_cost.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "engine/base/stopwatch.h"

namespace tandem {
namespace {

constexpr double kBudgetMs = 500;
// In this order, so that a short measurement knows the ends first. Kernels do four or eight rows at a time,
// so that the row after them costs more than one before.
constexpr std::array kMeasured = {1, 2, 4, 8, 16, 32, 9, 17, 24, 25, 3, 6, 12, 5, 20, 28, 10, 14};

// Milliseconds of one pass of so many rows over an empty sequence.
Result<double> timePass(Decoder& decoder, int rows, const std::atomic<bool>* cancel) {
  const std::vector<TokenId> tokens(rows, 0);
  const Sequence empty = decoder.newSequence();
  const Stopwatch watch;
  if (Status s = decoder.forward(empty, Batch::chain(tokens, 0), firstRows(rows), cancel); !s.ok())
    return s.error();
  return watch.ms();
}

}  // namespace

VerifyCost::VerifyCost() {
  for (int rows = 1; rows <= kMostRows; ++rows)
    step_[rows] = 0.7 + 0.3 * rows;
}

Status VerifyCost::measure(Decoder& decoder, const std::atomic<bool>* cancel) {
  std::array<double, kMostRows + 1> best{};
  const Stopwatch watch;
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (const int rows : kMeasured) {
      if (rows > 32 || (repeat > 0 && watch.ms() > kBudgetMs)) continue;
      if (repeat == 0 && rows != 1 && rows != 32 && best[32] > 0 && watch.ms() > 2 * kBudgetMs) continue;
      const Result<double> ms = timePass(decoder, rows, cancel);
      if (!ms.ok()) return ms.error();
      best[rows] = best[rows] == 0 ? *ms : std::min(best[rows], *ms);
    }
  }
  for (int rows = 2, below = 1; rows <= kMostRows; ++rows) {
    if (best[rows] == 0) continue;
    best[rows] = std::max(best[rows], best[below]);
    for (int i = below + 1; i < rows; ++i)
      best[i] = best[below] + (best[rows] - best[below]) * (i - below) / (rows - below);
    below = rows;
  }
  set(best);
  return {};
}

void VerifyCost::set(const std::array<double, kMostRows + 1>& step) {
  step_ = step;
  extra_.fill(0);
  seen_.fill(0);
  pace_ = 1;
  measured_ = true;
}

int VerifyCost::bucketOf(int context) {
  return std::min(kBuckets - 1, static_cast<int>(std::bit_width(static_cast<unsigned>(context) / 512)));
}

double VerifyCost::extraOf(int bucket) const {
  while (bucket > 0 && seen_[bucket] == 0)
    --bucket;
  return extra_[bucket];
}

double VerifyCost::ms(int rows, int context) const {
  return pace_ * (step_[rows] + rows * extraOf(bucketOf(context)));
}

void VerifyCost::observe(int rows, int context, double ms) {
  if (!measured_) return;
  const int bucket = bucketOf(context);
  if (seen_[bucket] == 0) extra_[bucket] = extraOf(bucket);
  const double learning = std::max(0.02, 0.5 / ++seen_[bucket]);
  // One pass that the system put aside says nothing about the next ones.
  const double expected = this->ms(rows, context);
  const double seen = std::clamp(ms, expected / 3, expected * 3);
  pace_ *= 1 + 0.1 * (seen / expected - 1);
  const double error = seen / pace_ - (step_[rows] + rows * extra_[bucket]);
  // Of what the pace does not explain, the context takes one part and this row count another. What one row
  // more costs less than nothing is noise.
  if (bucket > 0) extra_[bucket] = std::max(0.0, extra_[bucket] + learning * error / rows);
  step_[rows] += 0.05 * error;
  for (int r = rows + 1; r <= kMostRows; ++r)
    step_[r] = std::max(step_[r], step_[r - 1]);
  for (int r = rows - 1; r >= 1; --r)
    step_[r] = std::min(step_[r], step_[r + 1]);
}

}  // namespace tandem
