// Time on a steady clock, in milliseconds.
#pragma once

#include <chrono>
#include <utility>

namespace tandem {

class Stopwatch {
 public:
  double ms() const { return since(start_, Clock::now()); }  // since it was made
  // Since the last lap, or since it was made.
  double lap() {
    const Clock::time_point now = Clock::now();
    return since(std::exchange(last_, now), now);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double since(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double, std::milli>(to - from).count();
  }
  const Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

}  // namespace tandem
