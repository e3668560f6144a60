// What this machine reaches at most, measured: reading memory, and multiply-adds with the instructions of a
// kernel set. And what share of that a measured figure is.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/base/status.h"
#include "engine/kernels/kernel_set.h"
#include "engine/measure/work.h"

namespace tandem::measure {

struct Peak {
  double perSecond = 0;  // bytes or multiply-adds
  int threads = 0;       // with which it was reached
};

struct Peaks {
  std::size_t cacheBytes = 0;    // the last level of cache
  std::size_t memoryBuffer = 0;  // bytes of the buffers that were read
  std::size_t modelBuffer = 0;
  Peak memory;  // reading a buffer that no cache holds
  Peak model;   // reading a buffer as large as the model again and again
  Peak int8;
  Peak fp32;

  // Whether the model is read faster than memory because a cache holds much of it; then that rate binds.
  bool modelBinds() const { return model.perSecond > memory.perSecond; }
  const Peak& read() const { return modelBinds() ? model : memory; }
};

// Each peak is the best of five trials at every thread count up to 8, then at twice as many each time, and at
// all CPUs this process may use. The memory's buffer is eight times the last level of cache, but at most a
// quarter of `freeBytes` (0: unknown, then 1 GiB). Takes seconds. Errors: kCancelled, kOutOfMemory.
Result<Peaks> measurePeaks(const kernels::KernelSet& kernels, std::size_t modelBytes, std::uint64_t freeBytes,
                           const std::atomic<bool>* cancel = nullptr);

// Bytes of the last level of cache as the system tells them; 32 MiB where it does not.
std::size_t lastLevelCache(const std::string& cpuFolder = "/sys/devices/system/cpu/cpu0/cache");

// Shares of the peaks, 1 being all of it.
struct Shares {
  double read = 0;     // of the reading peak that binds
  double compute = 0;  // time that the multiply-adds take at their peaks, by the time taken

  // Whether it is more than the machine can do: then the figure or the peak is wrong.
  bool impossible() const { return read > 1 || compute > 1; }
};
Shares sharesOf(const Work& work, double ms, const Peaks& peaks);  // REQUIRES: ms > 0

}  // namespace tandem::measure
