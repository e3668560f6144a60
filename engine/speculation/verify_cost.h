// What a verify pass costs on this machine: a staircase over the number of rows, measured when a model is
// made ready, and what longer contexts add, learnt from the rounds themselves.
//
//   ms(rows, context) = pace * (step[rows] + rows * extra[bucket of context])
//
// step: the staircase, in a context of less than 512 tokens. extra: milliseconds that a row costs more in a
// longer one (a bucket each up to 1,024, 2,048, …); a bucket that was never seen takes its lower neighbour's.
// pace: how busy the machine is now. All three are exponential averages of real rounds. Belongs to the thread
// that generates.
#pragma once

#include <array>

#include "engine/model/decoder.h"
#include "engine/session/generation.h"

namespace tandem {

class VerifyCost {
 public:
  VerifyCost();
  static constexpr int kMostRows = kMaxDraftNodes + 1;

  // Runs passes of 1 to 32 rows of the decoder, for half a second at most beyond the first of 1 and of 32;
  // what there was no time for is interpolated.
  Status measure(Decoder& decoder, const std::atomic<bool>* cancel = nullptr);
  // Before that a row is taken to cost 0.3 of the first one.
  bool measured() const { return measured_; }
  // Takes a staircase that is known: step[rows], [0] unused, for tests and stored measurements.
  void set(const std::array<double, kMostRows + 1>& step);

  double ms(int rows, int context) const;
  void observe(int rows, int context, double ms);
  // The staircase as it is now, without context; [0] is 0.
  const std::array<double, kMostRows + 1>& steps() const { return step_; }

 private:
  static constexpr int kBuckets = 10;
  static int bucketOf(int context);
  double extraOf(int bucket) const;

  bool measured_ = false;
  std::array<double, kMostRows + 1> step_{};
  std::array<double, kBuckets> extra_{};
  std::array<int, kBuckets> seen_{};  // rounds
  double pace_ = 1;
};

// A staircase from the least times of some row counts, those of 1 and of all included; 0: not timed. A time
// can only be too long, by what else the machine did: so a step costs no more than a higher one, and no more
// than it would in two passes, one of them of eight rows. What was not timed is interpolated.
std::array<double, VerifyCost::kMostRows + 1> smoothStaircase(
    std::array<double, VerifyCost::kMostRows + 1> times);

}  // namespace tandem
