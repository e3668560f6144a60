// A fork-join pool of kernel threads that parks when idle.
//
// One caller at a time splits a loop into chunks. Each thread begins with a share of its own and goes through
// it in order, so that what it asks of memory ahead of time is what it needs next; then it takes chunks of
// the others' shares, so a worker that the system has put aside delays nobody but its own chunk. Which thread
// does which chunk never changes a result: every output element is written by exactly one chunk and its value
// does not depend on the split. Between loops a worker spins for half a millisecond, longer than a draft and
// a drawn token may take, then parks: a pool that busy-waits is slow on a busy machine. How many threads take
// part may change from loop to loop.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace tandem {

class ThreadPool {
 public:
  // `threads` counts the caller; it is clamped to 1 … kMaxThreads. Where the system gives fewer, size() says
  // so.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  static constexpr int kMaxThreads = 256;
  // How many there are, the caller among them, and how many of them take part in the next loop: all at first.
  int size() const { return static_cast<int>(workers_.size()) + 1; }
  int threads() const { return active_.load(std::memory_order_relaxed); }
  // Clamped to 1 … size(); the others park. REQUIRES: no loop is running.
  void useThreads(int threads);

  // Calls body(begin, end) for disjoint ranges that cover 0 … count - 1, each at most `grain` long, and
  // returns when all are done. REQUIRES: no other parallelFor of this pool is running; body does not throw.
  template <class Body>
  void parallelFor(int count, int grain, Body&& body) {
    if (count <= 0) return;
    if (threads() == 1 || count <= grain) {
      body(0, count);
      return;
    }
    using Plain = std::remove_reference_t<Body>;
    run([](void* context, int begin, int end) { (*static_cast<Plain*>(context))(begin, end); },
        const_cast<void*>(static_cast<const void*>(&body)), count, grain);
  }

 private:
  using Call = void (*)(void* context, int begin, int end);

  // Of a loop, that the thread of the same number begins with.
  struct alignas(64) Share {
    // Upper half: the loop; lower half: first index not yet claimed, or kClosed while the loop is set up.
    std::atomic<std::uint64_t> cursor;
    std::atomic<int> end;
  };

  void run(Call call, void* context, int count, int grain);
  void takePart(int thread, std::uint32_t loop);
  void finish(Share& share, std::uint32_t loop);
  void work(int index);

  const std::unique_ptr<Share[]> shares_;
  std::atomic<int> shareCount_{1};  // of this loop
  std::atomic<Call> call_{nullptr};
  std::atomic<void*> context_{nullptr};
  std::atomic<int> grain_{1};
  std::atomic<int> unfinished_{0};       // indices whose chunk has not ended
  std::atomic<std::uint32_t> epoch_{0};  // the loop's number; what workers park on
  std::atomic<int> active_;              // threads that take part; the caller is number 0
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

// CPUs this process may use now: the affinity mask, bounded by the least quota of its control groups rounded
// up; at least 1. `cgroupRoot` is where the file system of control groups (version 2) is mounted,
// `membership` names the group.
int availableCpus(const std::string& cgroupRoot = "/sys/fs/cgroup",
                  const std::string& membership = "/proc/self/cgroup");

}  // namespace tandem
