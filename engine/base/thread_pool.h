// A fork-join pool of kernel threads that parks when idle.
//
// One caller at a time splits a loop into chunks; the workers and the caller claim chunks as they come free,
// so a worker that the system has put aside delays nobody but its own chunk. Which thread does which chunk
// never changes a result: every output element is written by exactly one chunk and its value does not depend
// on the split. Between loops a worker spins for a fifth of a millisecond, as long as a draft and a commit
// may take, then parks: a pool that busy-waits is slow on a busy machine.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

namespace tandem {

class ThreadPool {
 public:
  // `threads` counts the caller; it is clamped to 1 … kMaxThreads.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  static constexpr int kMaxThreads = 256;
  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls body(begin, end) for disjoint ranges that cover 0 … count - 1, each at most `grain` long, and
  // returns when all are done. REQUIRES: no other parallelFor of this pool is running; body does not throw.
  template <class Body>
  void parallelFor(int count, int grain, Body&& body) {
    if (count <= 0) return;
    if (workers_.empty() || count <= grain) {
      body(0, count);
      return;
    }
    using Plain = std::remove_reference_t<Body>;
    run([](void* context, int begin, int end) { (*static_cast<Plain*>(context))(begin, end); },
        const_cast<void*>(static_cast<const void*>(&body)), count, grain);
  }

 private:
  using Call = void (*)(void* context, int begin, int end);

  void run(Call call, void* context, int count, int grain);
  bool claimAndRun(std::uint32_t generation);
  void work();

  // Upper half: generation of the loop; lower half: first index not yet claimed, or kClosed while the loop is
  // set up.
  std::atomic<std::uint64_t> cursor_;
  std::atomic<Call> call_{nullptr};
  std::atomic<void*> context_{nullptr};
  std::atomic<int> count_{0};
  std::atomic<int> grain_{1};
  std::atomic<int> unfinished_{0};       // indices whose chunk has not ended
  std::atomic<std::uint32_t> epoch_{0};  // bumped for each loop; what workers park on
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> workers_;
};

// The floating-point environment of the arithmetic contract: round to nearest, no flush to zero. Restores
// what was there when it goes.
class FloatEnvironment {
 public:
  FloatEnvironment();
  ~FloatEnvironment();
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
  unsigned saved_;
};

// CPUs this process may use: the affinity mask, bounded by the cgroup's quota rounded up; at least 1.
// `cgroupRoot` is where the control group file system is mounted.
int availableCpus(const char* cgroupRoot = "/sys/fs/cgroup");

}  // namespace tandem
