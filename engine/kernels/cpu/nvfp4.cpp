// NVFP4: as MXFP4, with a scale for each half of a block; see dotSigned for its bounds.
#include "engine/kernels/cpu/matmul_quantized.h"
#include "engine/kernels/quant/codebooks.h"

namespace tandem::kernels::TANDEM_SET {
namespace {

template <class S>
struct Kernel : KernelBase<S, NVFP4> {
  using typename KernelBase<S, NVFP4>::Block;
  TANDEM_INLINE static Block load(const Units<S>& u, int b) {
    Block block;
    unpackSteps<S>(u, b * NVFP4::kBlockBytes, kDoubledE2M1, block.v);
    return block;
  }
  TANDEM_INLINE static typename S::I integerSum(const Block& block, const std::int8_t* a,
                                                const std::int16_t* sums) {
    return dotSigned<S, 4>(block.v, a, sums);
  }
  TANDEM_INLINE static typename S::I secondSum(const Block& block, const std::int8_t* a,
                                               const std::int16_t* sums) {
    return dotSigned<S, 4>(block.v + 4, a + 16, sums + 1);
  }
  TANDEM_INLINE static typename S::F scale(const Units<S>& u, int b) {
    return S::singles(u, b * NVFP4::kBlockBytes + NVFP4::kScaleAt);
  }
  TANDEM_INLINE static typename S::F secondScale(const Units<S>& u, int b) {
    return S::singles(u, b * NVFP4::kBlockBytes + NVFP4::kSecondScaleAt);
  }
};

}  // namespace

void matmulNVFP4(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin, int groupEnd,
                 float* out, std::size_t outStride) {
  matmul<Kernel>(w, x, rows, groupBegin, groupEnd, out, outStride);
}

}  // namespace tandem::kernels::TANDEM_SET
