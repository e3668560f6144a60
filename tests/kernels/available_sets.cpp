// What the engine itself offers on this CPU.
#include "tests/kernels/sets_under_test.h"

namespace tandem::test {

std::vector<const kernels::KernelSet*> kernelSetsUnderTest() {
  return kernels::availableKernels();
}

int stepOfShapes() {
  return 1;
}

}  // namespace tandem::test
