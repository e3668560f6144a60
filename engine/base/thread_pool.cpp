#include "engine/base/thread_pool.h"

#include <immintrin.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <string>
#include <system_error>

namespace tandem {
namespace {

constexpr std::uint32_t kClosed = 0xFFFFFFFFu;
constexpr auto kSpin = std::chrono::microseconds(500);

std::uint64_t pack(std::uint32_t loop, std::uint32_t index) {
  return static_cast<std::uint64_t>(loop) << 32 | index;
}

// Spins until done() or the time is up; returns what done() said last.
template <class Done>
bool spinUntil(Done done) {
  const auto until = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) return true;
      _mm_pause();
    }
  } while (std::chrono::steady_clock::now() < until);
  return done();
}

// The CPUs that a group's quota comes to, rounded up; 0 where it has none.
int cpusOfQuota(const std::string& group) {
  std::ifstream file(group + "/cpu.max");  // "<quota|max> <period>", both in microseconds
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return 0;
  return static_cast<int>(std::ceil(std::min(std::strtod(quota.c_str(), nullptr) / period, 1e6)));
}

// "/a/b" of the line "0::/a/b"; empty where there is none.
std::string ownGroup(const std::string& membership) {
  std::ifstream file(membership);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("0::/")) return line.substr(3);
  }
  return {};
}

}  // namespace

ThreadPool::ThreadPool(int threads)
    : shares_(new Share[static_cast<std::size_t>(std::clamp(threads, 1, kMaxThreads))]),
      active_(std::clamp(threads, 1, kMaxThreads)) {
  const int wanted = active_.load();
  for (int i = 0; i < wanted; ++i)
    shares_[i].cursor.store(pack(0, kClosed));
  try {
    for (int i = 1; i < wanted; ++i)
      workers_.emplace_back([this, i] { work(i); });
  } catch (const std::system_error&) {
    active_.store(size());  // the system gives no more threads
  }
}

ThreadPool::~ThreadPool() {
  stopping_.store(true);
  epoch_.fetch_add(1);
  epoch_.notify_all();
  useThreads(size());
  for (auto& worker : workers_)
    worker.join();
}

void ThreadPool::useThreads(int threads) {
  active_.store(std::clamp(threads, 1, size()));
  active_.notify_all();
}

void ThreadPool::run(Call call, void* context, int count, int grain) {
  const std::uint32_t loop = epoch_.load() + 1;
  grain = std::max(grain, 1);
  // Closed first, so that a worker still at the last loop cannot claim with this loop's bounds: who reads one
  // of them has seen the close.
  const int shares = threads(), chunks = (count + grain - 1) / grain;
  for (int i = 0; i < std::max(shares, shareCount_.load()); ++i)
    shares_[i].cursor.store(pack(loop, kClosed));
  call_.store(call, std::memory_order_release);
  context_.store(context, std::memory_order_release);
  grain_.store(grain, std::memory_order_release);
  unfinished_.store(count, std::memory_order_relaxed);
  shareCount_.store(shares, std::memory_order_relaxed);
  const auto begin = [&](int share) {
    return std::min<std::int64_t>(count, std::int64_t{chunks} * share / shares * grain);
  };
  for (int i = 0; i < shares; ++i) {
    shares_[i].end.store(static_cast<int>(begin(i + 1)), std::memory_order_release);
    shares_[i].cursor.store(pack(loop, static_cast<std::uint32_t>(begin(i))));
  }
  epoch_.store(loop);
  epoch_.notify_all();

  takePart(0, loop);
  while (!spinUntil([&] { return unfinished_.load(std::memory_order_acquire) == 0; }))
    std::this_thread::yield();
}

void ThreadPool::takePart(int thread, std::uint32_t loop) {
  const int shares = shareCount_.load(std::memory_order_relaxed);
  for (int i = 0; i < shares; ++i)
    finish(shares_[(thread + i) % shares], loop);
}

// Claims chunks of the share and runs them, until there are none.
void ThreadPool::finish(Share& share, std::uint32_t loop) {
  std::uint64_t cursor = share.cursor.load();
  for (;;) {
    const auto index = static_cast<std::uint32_t>(cursor);
    const auto end = static_cast<std::uint32_t>(share.end.load(std::memory_order_acquire));
    if (static_cast<std::uint32_t>(cursor >> 32) != loop || index == kClosed || index >= end) return;
    const std::uint32_t next =
        std::min(end, index + static_cast<std::uint32_t>(grain_.load(std::memory_order_acquire)));
    const Call call = call_.load(std::memory_order_acquire);
    void* const context = context_.load(std::memory_order_acquire);
    // Success means that the loop was still open with these bounds.
    if (!share.cursor.compare_exchange_weak(cursor, pack(loop, next))) continue;
    call(context, static_cast<int>(index), static_cast<int>(next));
    unfinished_.fetch_sub(static_cast<int>(next - index), std::memory_order_release);
    cursor = share.cursor.load();
  }
}

void ThreadPool::work(int index) {
  const FloatEnvironment environment;
  std::uint32_t seen = 0;
  while (!stopping_.load()) {
    if (const int active = active_.load(); index >= active) {
      active_.wait(active);
      continue;
    }
    const std::uint32_t epoch = epoch_.load();
    if (epoch == seen) {
      if (!spinUntil([&] { return epoch_.load() != seen; })) epoch_.wait(seen);
      continue;
    }
    seen = epoch;
    takePart(index, epoch);
  }
}

FloatEnvironment::FloatEnvironment() : saved_(_mm_getcsr()) {
  _mm_setcsr(0x1F80);
}
FloatEnvironment::~FloatEnvironment() {
  _mm_setcsr(saved_);
}

int availableCpus(const std::string& cgroupRoot, const std::string& membership) {
  cpu_set_t set;
  CPU_ZERO(&set);
  int cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  // A group's quota holds for those below it.
  std::string group = ownGroup(membership);
  for (;;) {
    if (const int quota = cpusOfQuota(cgroupRoot + group); quota > 0) cpus = std::min(cpus, quota);
    if (group.empty()) break;
    group.resize(group.rfind('/'));
  }
  return std::max(cpus, 1);
}

}  // namespace tandem
