// Measures the processor time of the calling thread, so that a bound on time holds on a busy machine too.
#pragma once

#include <ctime>

namespace tandem::test {

class CpuTimer {
 public:
  // Milliseconds this thread has computed since the timer was made.
  double elapsedMs() const { return now() - start_; }

 private:
  static double now() {
    timespec time = {};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
  }
  double start_ = now();
};

}  // namespace tandem::test
