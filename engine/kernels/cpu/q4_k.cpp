// Q4_K. int16 stage as for Q4_1: eight sums of at most 3,810 make 30,480 < 2^15. The scale d * s and the
// minimum dmin * m are exact in fp32.
#include "engine/kernels/quant/q4_k.h"

#include "engine/kernels/cpu/matmul_quantized.h"

namespace tandem::kernels::TANDEM_SET {
namespace {

template <class S>
struct Kernel : KernelBase<S, Q4_K> {
  using typename KernelBase<S, Q4_K>::Block;
  TANDEM_INLINE static Block load(const Units<S>& u, int b) {
    Block block;
    unpackNibbles<S>(u, b * Q4_K::kBlockBytes, block.v);
    return block;
  }
  template <class Rows, int R>
  TANDEM_INLINE static void integerSums(const Block& block, const Rows& x, Sums<S, R>& sum) {
    dotUnsigned<S, 8>(block.v, x, sum);
  }
  TANDEM_INLINE static typename S::F scale(const Units<S>& u, int b) {
    return S::halves(u, Q4_K::kScaleAt) * S::byteValues(u, b * Q4_K::kBlockBytes + Q4_K::kSubScaleAt);
  }
  TANDEM_INLINE static typename S::F minimum(const Units<S>& u, int b) {
    return S::negative(S::halves(u, Q4_K::kMinimumAt) *
                       S::byteValues(u, b * Q4_K::kBlockBytes + Q4_K::kSubMinimumAt));
  }
};

}  // namespace

void matmulQ4_K(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin, int groupEnd,
                float* out, std::size_t outStride) {
  matmul<Kernel>(w, x, rows, groupBegin, groupEnd, out, outStride);
}

}  // namespace tandem::kernels::TANDEM_SET
