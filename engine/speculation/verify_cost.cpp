#include "engine/speculation/verify_cost.h"

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "engine/model/time_pass.h"

namespace tandem {
namespace {

constexpr double kBudgetMs = 500;
// The staircase's frame, each step three times as far as the time allows, then the steps between, twice.
// Kernels do four or eight rows at a time, so that the row after them costs more than one before.
constexpr std::array kFrame = {1, 32, 8, 2, 16, 4, 24};
constexpr std::array kBetween = {3, 6, 12, 5, 9, 20, 28, 10, 14, 17, 25};
constexpr int kFrameTimes = 3, kBetweenTimes = 2;

}  // namespace

VerifyCost::VerifyCost() {
  for (int rows = 1; rows <= kMostRows; ++rows)
    step_[rows] = 0.7 + 0.3 * rows;
}

Status VerifyCost::measure(Decoder& decoder, const std::atomic<bool>* cancel) {
  std::array<double, kMostRows + 1> best{};
  const Sequence empty = decoder.newSequence();
  const Stopwatch watch;
  const auto time = [&](std::span<const int> counts, int times) -> Status {
    for (int repeat = 0; repeat < times; ++repeat) {
      for (const int rows : counts) {
        const bool needed = best[rows] == 0 && (rows == 1 || rows == kMostRows);
        if (!needed && watch.ms() > kBudgetMs) continue;
        const Result<double> ms = timePass(decoder, empty, 0, rows, cancel);
        if (!ms.ok()) return ms.error();
        best[rows] = best[rows] == 0 ? *ms : std::min(best[rows], *ms);
      }
    }
    return {};
  };
  if (Status s = time(kFrame, kFrameTimes); !s.ok()) return s;
  if (Status s = time(kBetween, kBetweenTimes); !s.ok()) return s;
  set(smoothStaircase(best));
  return {};
}

std::array<double, VerifyCost::kMostRows + 1> smoothStaircase(
    std::array<double, VerifyCost::kMostRows + 1> times) {
  constexpr int kMost = VerifyCost::kMostRows, kTogether = 8;
  for (int rows = kMost - 1, above = kMost; rows >= 1; --rows) {
    if (times[rows] == 0) continue;
    times[rows] = std::min(times[rows], times[above]);
    for (int i = rows + 1; i < above; ++i)
      times[i] = times[rows] + (times[above] - times[rows]) * (i - rows) / (above - rows);
    above = rows;
  }
  for (int rows = kTogether + 1; rows <= kMost; ++rows)
    times[rows] = std::min(times[rows], times[rows - kTogether] + times[kTogether]);
  return times;
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
