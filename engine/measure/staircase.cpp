#include "engine/measure/staircase.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "engine/model/time_pass.h"

namespace tandem::measure {

Result<std::vector<std::vector<double>>> timePasses(Decoder& decoder, std::span<const TokenId> context,
                                                    std::span<const int> rowCounts, int repeats,
                                                    const std::atomic<bool>* cancel) {
  Sequence sequence = decoder.newSequence();
  if (Status s = decoder.read(sequence, context, cancel); !s.ok()) return s.error();
  std::vector<std::vector<double>> times(rowCounts.size());
  for (std::size_t i = 0; i < rowCounts.size(); ++i) {
    // Not timed the first time: passes of other row counts have left other things in the caches.
    for (int repeat = -1; repeat < repeats; ++repeat) {
      const auto ms = timePass(decoder, sequence, context.back(), rowCounts[i], cancel);
      if (!ms) return ms.error();
      if (repeat >= 0) times[i].push_back(*ms);
    }
  }
  return times;
}

Result<Staircase> measureStaircase(Decoder& decoder, std::span<const TokenId> context, int rows, int repeats,
                                   const std::atomic<bool>* cancel) {
  Sequence sequence = decoder.newSequence();
  if (Status s = decoder.read(sequence, context, cancel); !s.ok()) return s.error();
  std::vector<int> order(rows);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(1);
  Staircase staircase{std::vector<double>(rows)};
  for (int repeat = 0; repeat < repeats; ++repeat) {
    std::shuffle(order.begin(), order.end(), random);
    for (const int i : order) {
      const auto ms = timePass(decoder, sequence, context.back(), i + 1, cancel);
      if (!ms) return ms.error();
      staircase.ms[i] += *ms / repeats;
    }
  }
  return staircase;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace tandem::measure
