// The AVX-512 set as AVX2 code (avx512.h), for CPUs that have no AVX-512.
#include "tests/kernels/sets_under_test.h"

namespace tandem::kernels::simde512 {
extern const KernelSet table;
}

namespace tandem::test {

std::vector<const kernels::KernelSet*> kernelSetsUnderTest() {
  if (!kernels::kernelsByName("avx2").ok()) return {};
  return {&kernels::simde512::table};
}

int stepOfShapes() {
  return 5;
}

}  // namespace tandem::test
