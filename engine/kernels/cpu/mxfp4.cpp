// MXFP4: a shuffle turns a nibble into its doubled number, a signed byte; see dotSigned for its bounds.
#include "engine/kernels/cpu/matmul_quantized.h"
#include "engine/kernels/quant/codebooks.h"

namespace tandem::kernels::TANDEM_SET {
namespace {

template <class S>
struct Kernel : KernelBase<S, MXFP4> {
  using typename KernelBase<S, MXFP4>::Block;
  TANDEM_INLINE static Block load(const Units<S>& u, int) {
    Block block;
    unpackSteps<S>(u, 0, kDoubledE2M1, block.v);
    return block;
  }
  template <class Rows, int R>
  TANDEM_INLINE static void integerSums(const Block& block, const Rows& x, Sums<S, R>& sum) {
    dotSigned<S>(block.v, x, sum);
  }
  TANDEM_INLINE static typename S::F scale(const Units<S>& u, int) { return S::singles(u, MXFP4::kScaleAt); }
};

}  // namespace

void matmulMXFP4(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin, int groupEnd,
                 float* out, std::size_t outStride) {
  matmul<Kernel>(w, x, rows, groupBegin, groupEnd, out, outStride);
}

}  // namespace tandem::kernels::TANDEM_SET
