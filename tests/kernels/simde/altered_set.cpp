// The emulated AVX-512 set with one wrong intrinsic, in the products of one format: TANDEM_ALTERED_EMULATION
// of avx512.h. The comparison with the reference must see it.
#include "tests/kernels/sets_under_test.h"

namespace tandem::kernels {
namespace simde512 {
extern const KernelSet table;
}
namespace simde512altered {
void matmulQ4_0(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin, int groupEnd,
                float* out, std::size_t outStride);
}
}  // namespace tandem::kernels

namespace tandem::test {
namespace {

using namespace kernels;

void matmulQuantized(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin, int groupEnd,
                     float* out, std::size_t outStride) {
  const auto multiply =
      w.format() == WeightFormat::kQ4_0 ? simde512altered::matmulQ4_0 : simde512::table.matmulQuantized;
  multiply(w, x, rows, groupBegin, groupEnd, out, outStride);
}

}  // namespace

std::vector<const KernelSet*> kernelSetsUnderTest() {
  if (!kernelsByName("avx2").ok()) return {};
  static const KernelSet altered = [] {
    KernelSet set = simde512::table;
    set.name = "altered";
    set.matmulQuantized = matmulQuantized;
    return set;
  }();
  return {&altered};
}

int stepOfShapes() {
  return 5;
}

}  // namespace tandem::test
