// What a verify pass costs by its number of rows, measured. It is a staircase and not a line: kernels work on
// several rows at a time.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "engine/model/decoder.h"

namespace tandem::measure {

struct Staircase {
  std::vector<double> ms;  // ms[r - 1]: a pass of r rows

  double of(int rows) const { return ms[static_cast<std::size_t>(rows) - 1]; }
};

// Times passes of each of `rowCounts` rows, logits of every row included, behind the tokens of `context`,
// `repeats` times after one that is not counted: [i] has the ms of rowCounts[i] rows. Errors and
// requirements: as below.
Result<std::vector<std::vector<double>>> timePasses(Decoder& decoder, std::span<const TokenId> context,
                                                    std::span<const int> rowCounts, int repeats,
                                                    const std::atomic<bool>* cancel = nullptr);

// Times passes of 1 to `rows` rows, logits of every row included, behind the tokens of `context`: means of
// `repeats` passes, as the rate of an answer is one, whatever else the machine does. Row counts follow each
// other in a mixed order, as they do while drafts are verified: a pass takes longer after one of another size
// than after one of its own. Errors: those of Decoder::forward. REQUIRES: 1 <= rows <= decoder.maxRows(); the
// context is not empty, lies in the vocabulary and leaves room.
Result<Staircase> measureStaircase(Decoder& decoder, std::span<const TokenId> context, int rows, int repeats,
                                   const std::atomic<bool>* cancel = nullptr);

double median(std::vector<double> values);  // REQUIRES: not empty

}  // namespace tandem::measure
