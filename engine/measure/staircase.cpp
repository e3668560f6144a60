#include "engine/measure/staircase.h"

#include <algorithm>
#include <numeric>

#include "engine/base/stopwatch.h"

namespace tandem::measure {

Result<std::vector<std::vector<double>>> timePasses(Decoder& decoder, std::span<const TokenId> context,
                                                    std::span<const int> rowCounts, int repeats,
                                                    const std::atomic<bool>* cancel) {
  Sequence sequence = decoder.newSequence();
  if (Status s = decoder.read(sequence, context, cancel); !s.ok()) return s.error();
  std::vector<std::vector<double>> times(rowCounts.size());
  for (std::size_t i = 0; i < rowCounts.size(); ++i) {
    const std::vector<TokenId> tokens(rowCounts[i], context.back());
    const Batch batch = Batch::chain(tokens, sequence.length());
    const std::vector<int> all = firstRows(rowCounts[i]);
    // Not timed the first time: passes of other row counts have left other things in the caches.
    for (int repeat = -1; repeat < repeats; ++repeat) {
      const Stopwatch watch;
      if (Status s = decoder.forward(sequence, batch, all, cancel); !s.ok()) return s.error();
      if (repeat >= 0) times[i].push_back(watch.ms());
    }
  }
  return times;
}

Result<Staircase> measureStaircase(Decoder& decoder, std::span<const TokenId> context, int rows, int repeats,
                                   const std::atomic<bool>* cancel) {
  std::vector<int> counts(rows);
  std::iota(counts.begin(), counts.end(), 1);
  auto times = timePasses(decoder, context, counts, repeats, cancel);
  if (!times) return times.error();
  Staircase staircase;
  for (std::vector<double>& ofCount : *times)
    staircase.ms.push_back(median(std::move(ofCount)));
  return staircase;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace tandem::measure
