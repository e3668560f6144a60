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
  template <class Rows, int R>
  TANDEM_INLINE static void integerSums(const Block& block, const Rows& x, Sums<S, R>& sum) {
    dotSigned<S>(block.v, x, sum, 0, 4);
  }
  template <class Rows, int R>
  TANDEM_INLINE static void secondSums(const Block& block, const Rows& x, Sums<S, R>& sum) {
    dotSigned<S>(block.v, x, sum, 4, 4);
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
