#include <cstdlib>

#include "engine/kernels/cpu/avx2/avx2.h"

namespace tandem::kernels {
namespace {

void matmulQuantized(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin, int groupEnd,
                     float* out, std::size_t outStride) {
  avx2::MatmulQuantized* function = nullptr;
  switch (w.format()) {
    case WeightFormat::kQ4_1:
      function = avx2::matmulQ4_1;
      break;
    case WeightFormat::kQ5_0:
      function = avx2::matmulQ5_0;
      break;
    case WeightFormat::kQ8_0:
      function = avx2::matmulQ8_0;
      break;
    case WeightFormat::kQ4_K:
      function = avx2::matmulQ4_K;
      break;
    case WeightFormat::kQ6_K:
      function = avx2::matmulQ6_K;
      break;
    case WeightFormat::kF32:
    case WeightFormat::kF16:
      std::abort();
  }
  function(w, x, rows, groupBegin, groupEnd, out, outStride);
}

}  // namespace

const KernelSet& avx2Kernels() {
  static constexpr KernelSet set = {
      .name = "avx2",
      .quantizeRow = avx2::quantizeRow,
      .matmulQuantized = matmulQuantized,
      .matmulFloat = avx2::matmulFloat,
      .rmsNorm = avx2::rmsNorm,
      .ropeAdjacent = avx2::ropeAdjacent,
      .ropeHalves = avx2::ropeHalves,
      .toCache = avx2::toCache,
      .attendF16 = avx2::attendF16,
      .attendF32 = avx2::attendF32,
      .gatedActivation = avx2::gatedActivation,
      .sigmoidGate = avx2::sigmoidGate,
      .add = avx2::add,
      .scale = avx2::scale,
      .softCap = avx2::softCap,
      .convolve = avx2::convolve,
      .deltaStep = avx2::deltaStep,
      .pickExperts = pickExperts,
      .joinExperts = avx2::joinExperts,
  };
  return set;
}

}  // namespace tandem::kernels
