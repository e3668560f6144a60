// Keeps the number of threads right while a model is used. What was measured at load may be wrong a minute
// later: a neighbour takes a CPU, a quota changes, two programs get in each other's way.
//
// The tuner hears what each plain pass (one row) took. When their median stays far above the best there was,
// or from time to time while CPUs are left unused, the next passes take turns with other numbers of threads,
// and the fastest goes on. Such a trial is made of passes that had to be computed anyway, 7 for each number,
// and seldom: the wait doubles, up to five minutes, while trials change nothing. No number changes a bit of
// what is computed.
//
// Plain arithmetic on the times it is told; it starts no thread. One thread at a time may call.
#pragma once

#include <functional>
#include <vector>

namespace tandem {

// What the tuner asks of the machine; tests give it another one.
struct MachineProbe {
  std::function<double()> nowMs;  // a steady clock
  std::function<int()> cpus;      // that may be used now

  static MachineProbe real();
};

class ThreadTuner {
 public:
  // `threads` were the fastest at load, of a pool of `most`.
  ThreadTuner(int threads, int most, MachineProbe machine);

  int threads() const { return threads_; }  // for passes that are not plain
  // A plain pass begins now; returns with how many threads, during a trial the number to be tried.
  int begin();
  // The pass that began last is done. A pass that failed is passed over by not calling it.
  void end();

 private:
  struct Trial {
    int threads;
    std::vector<double> ms = {};
  };

  void watch(double ms);
  bool isDue(double median) const;
  void startTrials();
  void endTrials();

  const int most_;
  const MachineProbe machine_;
  int threads_;
  double best_ = 0;             // the lowest median since the last change, ms; 0: none yet
  std::vector<double> window_;  // the last passes, ms
  std::vector<Trial> trials_;   // empty: none is under way
  std::size_t turn_ = 0;
  double began_ = 0;
  double waitMs_;
  double next_;  // no trial before this time
};

}  // namespace tandem
