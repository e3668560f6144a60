// Q2_K. int16 stage: a sum of two products is at most 2 * 3 * 127 = 762; four of them 3,048. With the
// sub-scales, at most 15, everything stays far below 2^31; so do the minima's sums, 2 * 15 * 16 * 127.
#include "engine/kernels/quant/q2_k.h"

#include "engine/kernels/cpu/matmul_quantized.h"

namespace tandem::kernels::TANDEM_SET {
namespace {

template <class S>
struct Kernel : KernelBase<S, Q2_K> {
  struct Block {
    typename S::I v[8];
    HalfScales<S> scales;
    typename S::I minima;  // (m0, m1) as int16 in each column's lane
  };
  TANDEM_INLINE static Block load(const Units<S>& u, int b) {
    Block block;
    const int at = b * Q2_K::kBlockBytes;
    unpackPairs<S>(u, at, block.v);
    block.scales = HalfScales<S>::of(S::bytePairs(u, at + Q2_K::kSubScaleAt));
    block.minima = S::bytePairs(u, at + Q2_K::kSubMinimumAt);
    return block;
  }
  template <class Rows, int R>
  TANDEM_INLINE static void integerSums(const Block& block, const Rows& x, Sums<S, R>& sum) {
    dotHalves<S, 4, 0>(block.v, x, block.scales, sum);
  }
  template <class Rows>
  TANDEM_INLINE static typename S::I minimumSum(const Block& block, const Rows& x, int row) {
    return sumOfHalves<S>(block.minima, x, row);
  }
  TANDEM_INLINE static typename S::F minimum(const Units<S>& u, int) {
    return S::negative(S::halves(u, Q2_K::kMinimumAt));
  }
};

}  // namespace

void matmulQ2_K(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin, int groupEnd,
                float* out, std::size_t outStride) {
  matmul<Kernel>(w, x, rows, groupBegin, groupEnd, out, outStride);
}

}  // namespace tandem::kernels::TANDEM_SET
