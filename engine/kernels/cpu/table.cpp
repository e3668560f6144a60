#include <cstdlib>

#include "engine/kernels/cpu/cpu_kernels.h"

#define TANDEM_TEXT(x) #x
#define TANDEM_NAME(x) TANDEM_TEXT(x)

namespace tandem::kernels::TANDEM_SET {
namespace {

void matmulQuantized(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin, int groupEnd,
                     float* out, std::size_t outStride) {
  MatmulQuantized* function = nullptr;
  switch (w.format()) {
    case WeightFormat::kQ4_0:
      function = matmulQ4_0;
      break;
    case WeightFormat::kQ4_1:
      function = matmulQ4_1;
      break;
    case WeightFormat::kQ5_0:
      function = matmulQ5_0;
      break;
    case WeightFormat::kQ5_1:
      function = matmulQ5_1;
      break;
    case WeightFormat::kQ8_0:
      function = matmulQ8_0;
      break;
    case WeightFormat::kQ2_K:
      function = matmulQ2_K;
      break;
    case WeightFormat::kQ3_K:
      function = matmulQ3_K;
      break;
    case WeightFormat::kQ4_K:
      function = matmulQ4_K;
      break;
    case WeightFormat::kQ5_K:
      function = matmulQ5_K;
      break;
    case WeightFormat::kQ6_K:
      function = matmulQ6_K;
      break;
    case WeightFormat::kIQ4_NL:
      function = matmulIQ4_NL;
      break;
    case WeightFormat::kIQ4_XS:
      function = matmulIQ4_XS;
      break;
    case WeightFormat::kMXFP4:
      function = matmulMXFP4;
      break;
    case WeightFormat::kNVFP4:
      function = matmulNVFP4;
      break;
    case WeightFormat::kF32:
    case WeightFormat::kF16:
    case WeightFormat::kBF16:
      std::abort();
  }
  function(w, x, rows, groupBegin, groupEnd, out, outStride);
}

}  // namespace

constinit const KernelSet table = {
    .name = TANDEM_NAME(TANDEM_SET),
    .quantizeRow = quantizeRow,
    .matmulQuantized = matmulQuantized,
    .matmulFloat = matmulFloat,
    .rmsNorm = rmsNorm,
    .ropeAdjacent = ropeAdjacent,
    .ropeHalves = ropeHalves,
    .toCache = toCache,
    .attendF16 = attendF16,
    .attendF32 = attendF32,
    .attendVq8 = attendVq8,
    .attendQ8 = attendQ8,
    .joinTiles = joinTiles,
    .gatedActivation = gatedActivation,
    .sigmoidGate = sigmoidGate,
    .add = add,
    .scale = scale,
    .softCap = softCap,
    .allFinite = allFinite,
    .argmax = argmax,
    .atLeast = atLeast,
    .contenders = contenders,
    .convolve = convolve,
    .deltaStep = deltaStep,
    .pickExperts = pickExperts,
    .joinExperts = joinExperts,
    .probeInt8 = probeInt8,
    .probeFloat = probeFloat,
    .probeRead = probeRead,
};

}  // namespace tandem::kernels::TANDEM_SET
