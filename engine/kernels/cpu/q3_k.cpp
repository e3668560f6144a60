// Q3_K: s (q - 4) a = s q a - 4 s a, per half block. int16 stage: a sum of two products is at most 2 * 7 *
// 127 = 1,778; four of them 7,112. With the sub-scales, at most 32, exact in int32.
#include "engine/kernels/quant/q3_k.h"

#include "engine/kernels/cpu/matmul_quantized.h"

namespace tandem::kernels::TANDEM_SET {
namespace {

template <class S>
struct Kernel : KernelBase<S, Q3_K> {
  struct Block {
    typename S::I v[8];
    HalfScales<S> scales;
  };
  TANDEM_INLINE static Block load(const Units<S>& u, int b) {
    Block block;
    const int at = b * Q3_K::kBlockBytes;
    unpackPairs<S>(u, at, block.v);
    addThirdBits<S>(S::bytes(u, at + Q3_K::kHighAt), block.v);
    block.scales = HalfScales<S>::of(S::bytePairs(u, at + Q3_K::kSubScaleAt));
    return block;
  }
  template <class Rows, int R>
  TANDEM_INLINE static void integerSums(const Block& block, const Rows& x, Sums<S, R>& sum) {
    dotHalves<S, 4, 2>(block.v, x, block.scales, sum);
  }
};

}  // namespace

void matmulQ3_K(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin, int groupEnd,
                float* out, std::size_t outStride) {
  matmul<Kernel>(w, x, rows, groupBegin, groupEnd, out, outStride);
}

}  // namespace tandem::kernels::TANDEM_SET
