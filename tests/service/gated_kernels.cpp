#include "tests/service/gated_kernels.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace tandem::test {
namespace {

std::mutex mutex;
std::condition_variable changed;
bool isClosed = false;
bool isHeld = false;
long calls = 0;

void gatedStep(float* gate, const float* up, int n, kernels::Activation activation) {
  {
    std::unique_lock lock(mutex);
    ++calls;
    if (isClosed) {
      isHeld = true;
      changed.notify_all();
      changed.wait(lock, [] { return !isClosed; });
      isHeld = false;
    }
  }
  kernels::referenceKernels().gatedActivation(gate, up, n, activation);
}

}  // namespace

const kernels::KernelSet& gatedKernels() {
  static const kernels::KernelSet set = [] {
    kernels::KernelSet made = kernels::referenceKernels();
    made.name = "gated";
    made.gatedActivation = gatedStep;
    return made;
  }();
  return set;
}

void gate::close() {
  const std::lock_guard lock(mutex);
  isClosed = true;
}

bool gate::waitUntilHeld() {
  std::unique_lock lock(mutex);
  return changed.wait_for(lock, std::chrono::minutes(1), [] { return isHeld; });
}

void gate::open() {
  {
    const std::lock_guard lock(mutex);
    isClosed = false;
  }
  changed.notify_all();
}

long gate::rows() {
  const std::lock_guard lock(mutex);
  return calls;
}

}  // namespace tandem::test
