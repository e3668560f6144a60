// The set of AVX-512 with VNNI as AVX2 code (avx512.h), for CPUs that have neither.
#include <map>

#define TANDEM_SET simde512vnni
#include "engine/kernels/cpu/cpu_kernels.h"
#include "tests/kernels/sets_under_test.h"

namespace tandem::kernels::simde512 {
extern const KernelSet table;
}

namespace tandem::test {
namespace {

using namespace kernels;

// Only the products are built with VNNI; all else is that of the set without.
void multiplyWithVnni(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin, int groupEnd,
                      float* out, std::size_t outStride) {
  using namespace simde512vnni;
  static const std::map<WeightFormat, MatmulQuantized*> products = {
      {WeightFormat::kQ4_0, matmulQ4_0},     {WeightFormat::kQ4_1, matmulQ4_1},
      {WeightFormat::kQ5_0, matmulQ5_0},     {WeightFormat::kQ5_1, matmulQ5_1},
      {WeightFormat::kQ8_0, matmulQ8_0},     {WeightFormat::kQ2_K, matmulQ2_K},
      {WeightFormat::kQ3_K, matmulQ3_K},     {WeightFormat::kQ4_K, matmulQ4_K},
      {WeightFormat::kQ5_K, matmulQ5_K},     {WeightFormat::kQ6_K, matmulQ6_K},
      {WeightFormat::kIQ4_NL, matmulIQ4_NL}, {WeightFormat::kIQ4_XS, matmulIQ4_XS},
      {WeightFormat::kMXFP4, matmulMXFP4},   {WeightFormat::kNVFP4, matmulNVFP4}};
  products.at(w.format())(w, x, rows, groupBegin, groupEnd, out, outStride);
}

}  // namespace

std::vector<const KernelSet*> kernelSetsUnderTest() {
  if (!kernelsByName("avx2").ok()) return {};
  static const KernelSet vnni = [] {
    KernelSet set = simde512::table;
    set.name = "simde512vnni";
    set.matmulQuantized = multiplyWithVnni;
    return set;
  }();
  return {&vnni};
}

int stepOfShapes() {
  return 5;
}

}  // namespace tandem::test
