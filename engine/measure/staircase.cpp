#include "engine/measure/staircase.h"

#include <algorithm>
#include <chrono>

namespace tandem::measure {
namespace {

// rows[i] = i
std::vector<int> firstRows(int count) {
  std::vector<int> rows(count);
  for (int i = 0; i < count; ++i)
    rows[i] = i;
  return rows;
}

}  // namespace

Result<Staircase> measureStaircase(Decoder& decoder, std::span<const TokenId> context, int rows, int repeats,
                                   const std::atomic<bool>* cancel) {
  Sequence sequence = decoder.newSequence();
  for (std::size_t done = 0; done < context.size();) {
    const auto count = std::min<std::size_t>(decoder.maxRows(), context.size() - done);
    const Batch batch = Batch::chain(context.subspan(done, count), static_cast<int>(done));
    if (Status s = decoder.forward(sequence, batch, {}, cancel); !s.ok()) return s.error();
    if (Status s = decoder.commit(sequence, firstRows(static_cast<int>(count))); !s.ok()) return s.error();
    done += count;
  }
  std::vector<std::vector<double>> times(rows);
  const std::vector<TokenId> tokens(rows, context.back());
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (int count = 1; count <= rows; ++count) {
      const Batch batch = Batch::chain(std::span(tokens).first(count), sequence.length());
      const std::vector<int> all = firstRows(count);
      const auto start = std::chrono::steady_clock::now();
      if (Status s = decoder.forward(sequence, batch, all, cancel); !s.ok()) return s.error();
      const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
      times[count - 1].push_back(time.count());
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
