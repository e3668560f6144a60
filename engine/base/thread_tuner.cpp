#include "engine/base/thread_tuner.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "engine/base/stopwatch.h"
#include "engine/base/thread_pool.h"

namespace tandem {
namespace {

constexpr std::size_t kWindow = 16;  // passes
constexpr std::size_t kTurns = 7;    // of each number in a trial
constexpr double kSlow = 1.5;
constexpr double kWin = 0.95;  // another number must be faster by 5 %
constexpr double kShortestWaitMs = 10'000, kLongestWaitMs = 300'000;

double medianOf(std::vector<double> ms) {
  const auto middle = ms.begin() + ms.size() / 2;
  std::nth_element(ms.begin(), middle, ms.end());
  return *middle;
}

// The mean, for a thread that has to wait now and then slows the whole text; but not of the slowest pass, in
// which the machine may have stood still.
double typicalOf(const std::vector<double>& ms) {
  const double sum = std::accumulate(ms.begin(), ms.end(), 0.0);
  return (sum - *std::max_element(ms.begin(), ms.end())) / static_cast<double>(ms.size() - 1);
}

}  // namespace

MachineProbe MachineProbe::real() {
  return {[watch = Stopwatch()] { return watch.ms(); }, [] { return availableCpus(); }};
}

ThreadTuner::ThreadTuner(int threads, int most, MachineProbe machine)
    : most_(most),
      machine_(std::move(machine)),
      threads_(threads),
      waitMs_(kShortestWaitMs),
      next_(machine_.nowMs() + waitMs_) {}

int ThreadTuner::begin() {
  began_ = machine_.nowMs();
  return trials_.empty() ? threads_ : trials_[turn_ % trials_.size()].threads;
}

void ThreadTuner::end() {
  const double ms = machine_.nowMs() - began_;
  if (trials_.empty()) {
    watch(ms);
    return;
  }
  trials_[turn_ % trials_.size()].ms.push_back(ms);
  if (++turn_ == kTurns * trials_.size()) endTrials();
}

void ThreadTuner::watch(double ms) {
  window_.push_back(ms);
  if (window_.size() < kWindow) return;
  const double median = medianOf(std::exchange(window_, {}));
  best_ = best_ > 0 ? std::min(best_, median) : median;
  if (isDue(median)) startTrials();
}

// Unused CPUs are a reason too: passes do not show that a neighbour has left.
bool ThreadTuner::isDue(double median) const {
  return machine_.nowMs() >= next_ && (median > kSlow * best_ || threads_ < most_);
}

void ThreadTuner::startTrials() {
  const int most = std::clamp(machine_.cpus(), 1, most_), now = std::min(threads_, most);
  std::set<int> counts;
  for (const int count : {now / 2, now - 1, now, now + 1, 2 * now, most})
    counts.insert(std::clamp(count, 1, most));
  for (const int count : counts)
    trials_.push_back({count});
  turn_ = 0;
}

void ThreadTuner::endTrials() {
  const auto msOf = [this](int threads) {
    const auto trial = std::find_if(trials_.begin(), trials_.end(),
                                    [threads](const Trial& t) { return t.threads == threads; });
    return trial == trials_.end() ? INFINITY : typicalOf(trial->ms);
  };
  const int before = threads_;
  double fastest = kWin * msOf(before);
  for (const Trial& trial : trials_) {
    const double ms = typicalOf(trial.ms);
    if (ms >= fastest) continue;
    fastest = ms;
    threads_ = trial.threads;
  }
  trials_.clear();
  if (threads_ != before) best_ = 0;
  waitMs_ = threads_ != before ? kShortestWaitMs : std::min(2 * waitMs_, kLongestWaitMs);
  next_ = machine_.nowMs() + waitMs_;
}

}  // namespace tandem
