#include "engine/measure/peaks.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <vector>

#include "engine/base/stopwatch.h"
#include "engine/base/thread_pool.h"

namespace tandem::measure {
namespace {

constexpr int kTrials = 5;
constexpr double kTrialMs = 20;           // at least, of a trial
constexpr std::size_t kPiece = 64 << 10;  // bytes that one call of probeRead takes

// Memory in large pages where the system has them, so that the pages' table is no part of what is measured.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes) : bytes_(bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    data_ = static_cast<std::uint8_t*>(memory);
    madvise(memory, bytes, MADV_HUGEPAGE);
  }
  ~Buffer() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::uint8_t* data() const { return data_; }  // null: there is no memory
  int pieces() const { return static_cast<int>(bytes_ / kPiece); }

 private:
  std::size_t bytes_;
  std::uint8_t* data_ = nullptr;
};

std::vector<int> threadCounts() {
  const int most = availableCpus();
  std::vector<int> counts;
  for (int count = 1; count < most; count = count < 8 ? count + 1 : count * 2)
    counts.push_back(count);
  counts.push_back(most);
  return counts;
}

bool stopped(const std::atomic<bool>* cancel) {
  return cancel != nullptr && cancel->load();
}

// The best rate of `trial`, which does something on the pool and returns how much that was.
Peak best(const std::function<double(ThreadPool&)>& trial, const std::atomic<bool>* cancel) {
  Peak peak;
  for (const int threads : threadCounts()) {
    ThreadPool pool(threads);
    for (int i = 0; i < kTrials && !stopped(cancel); ++i) {
      const Stopwatch watch;
      double done = 0;
      do {
        done += trial(pool);
      } while (watch.ms() < kTrialMs);
      const double perSecond = done * 1000 / watch.ms();
      if (perSecond > peak.perSecond) peak = {perSecond, threads};
    }
  }
  return peak;
}

Peak bestProduct(std::int64_t (*probe)(std::int64_t steps), const std::atomic<bool>* cancel) {
  constexpr std::int64_t kSteps = 20000;
  return best(
      [probe](ThreadPool& pool) {
        const int units = pool.threads() * 8;
        std::atomic<std::int64_t> done{0};
        pool.parallelFor(units, 1, [&](int begin, int end) { done += probe((end - begin) * kSteps); });
        return static_cast<double>(done.load());
      },
      cancel);
}

Result<Peak> bestRead(const kernels::KernelSet& kernels, std::size_t bytes, const std::atomic<bool>* cancel) {
  const Buffer buffer(bytes);
  if (buffer.data() == nullptr) {
    return Error{ErrorCode::kOutOfMemory, "there is no memory to measure how fast it is read"};
  }
  ThreadPool filler(availableCpus());
  filler.parallelFor(buffer.pieces(), 64, [&](int begin, int end) {
    std::memset(buffer.data() + begin * kPiece, 1, (end - begin) * kPiece);
  });
  return best(
      [&](ThreadPool& pool) {
        // Each thread walks long stretches, as it walks the columns of a matrix.
        const int grain = std::max(1, buffer.pieces() / (pool.threads() * 8));
        pool.parallelFor(buffer.pieces(), grain, [&](int begin, int end) {
          kernels.probeRead(buffer.data() + begin * kPiece, (end - begin) * kPiece);
        });
        return static_cast<double>(buffer.pieces()) * kPiece;
      },
      cancel);
}

// "32768K" and the like; 0 when it is something else.
std::size_t sizeFrom(const std::string& path) {
  std::ifstream file(path);
  std::size_t number = 0;
  char unit = 0;
  if (!(file >> number)) return 0;
  file >> unit;
  return unit == 'M' ? number << 20 : unit == 'K' ? number << 10 : number;
}

}  // namespace

std::size_t lastLevelCache(const std::string& cpuFolder) {
  std::size_t largest = 0;
  for (int index = 0; index < 8; ++index)
    largest = std::max(largest, sizeFrom(cpuFolder + "/index" + std::to_string(index) + "/size"));
  if (largest > 0) return largest;
  constexpr std::size_t kUnknown = 32u << 20;
  for (const int name : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
    if (const long bytes = sysconf(name); bytes > 0) return static_cast<std::size_t>(bytes);
  }
  return kUnknown;
}

Result<Peaks> measurePeaks(const kernels::KernelSet& kernels, std::size_t modelBytes, std::uint64_t freeBytes,
                           const std::atomic<bool>* cancel) {
  const auto wholePieces = [](std::size_t bytes) {
    return std::max<std::size_t>(bytes / kPiece, 1) * kPiece;
  };
  const std::size_t most = freeBytes > 0 ? freeBytes / 4 : std::size_t{1} << 30;
  Peaks peaks;
  peaks.cacheBytes = lastLevelCache();
  peaks.memoryBuffer = wholePieces(std::min(8 * peaks.cacheBytes, most));
  peaks.modelBuffer = wholePieces(std::min(modelBytes, most));
  peaks.int8 = bestProduct(kernels.probeInt8, cancel);
  peaks.fp32 = bestProduct(kernels.probeFloat, cancel);
  const auto memory = bestRead(kernels, peaks.memoryBuffer, cancel);
  if (!memory) return memory.error();
  const auto model = bestRead(kernels, peaks.modelBuffer, cancel);
  if (!model) return model.error();
  peaks.memory = *memory;
  peaks.model = *model;
  if (stopped(cancel)) return Error{ErrorCode::kCancelled, "stopped"};
  return peaks;
}

Shares sharesOf(const Work& work, double ms, const Peaks& peaks) {
  const double seconds = ms / 1000;
  return {work.bytes / seconds / peaks.read().perSecond,
          (work.int8 / peaks.int8.perSecond + work.fp32 / peaks.fp32.perSecond) / seconds};
}

}  // namespace tandem::measure
