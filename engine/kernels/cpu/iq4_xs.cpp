// IQ4_XS: as IQ4_NL; the scale d * s is exact in fp32.
#include "engine/kernels/cpu/matmul_quantized.h"
#include "engine/kernels/quant/codebooks.h"

namespace tandem::kernels::TANDEM_SET {
namespace {

template <class S>
struct Kernel : KernelBase<S, IQ4_XS> {
  using typename KernelBase<S, IQ4_XS>::Block;
  TANDEM_INLINE static Block load(const Units<S>& u, int b) {
    Block block;
    unpackSteps<S>(u, b * IQ4_XS::kBlockBytes, kGrowingSteps, block.v);
    return block;
  }
  template <class Rows, int R>
  TANDEM_INLINE static void integerSums(const Block& block, const Rows& x, Sums<S, R>& sum) {
    dotSigned<S>(block.v, x, sum);
  }
  TANDEM_INLINE static typename S::F scale(const Units<S>& u, int b) {
    return S::halves(u, IQ4_XS::kScaleAt) *
           S::signedByteValues(u, b * IQ4_XS::kBlockBytes + IQ4_XS::kSubScaleAt);
  }
};

}  // namespace

void matmulIQ4_XS(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin, int groupEnd,
                  float* out, std::size_t outStride) {
  matmul<Kernel>(w, x, rows, groupBegin, groupEnd, out, outStride);
}

}  // namespace tandem::kernels::TANDEM_SET
