#include "engine/measure/staircase.h"

#include <algorithm>

#include "engine/base/stopwatch.h"
namespace tandem::measure {
Result<Staircase> measureStaircase(Decoder& decoder, std::span<const TokenId> context, int rows, int repeats,
                                   const std::atomic<bool>* cancel) {
  Sequence sequence = decoder.newSequence();
  if (Status s = decoder.read(sequence, context, cancel); !s.ok()) return s.error();
  std::vector<std::vector<double>> times(rows);
  const std::vector<TokenId> tokens(rows, context.back());
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (int count = 1; count <= rows; ++count) {
      const Batch batch = Batch::chain(std::span(tokens).first(count), sequence.length());
      const std::vector<int> all = firstRows(count);
      const Stopwatch watch;
      if (Status s = decoder.forward(sequence, batch, all, cancel); !s.ok()) return s.error();
      times[count - 1].push_back(watch.ms());
    }
  }
  Staircase staircase;
  for (std::vector<double>& ofCount : times)
    staircase.ms.push_back(median(std::move(ofCount)));
  return staircase;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace tandem::measure
