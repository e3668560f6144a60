// Q6_K: s (q - 32) a = s q a - 32 s a, per half block. int16 stage: a sum of two products is at most
// 2 * 63 * 127 = 16,002; two of them 32,004 < 2^15. With the sub-scales exact in int32: |s| * 2 * 32,004 <
// 2^23, four such sums and the offset stay below 2^26.
#include "engine/kernels/quant/q6_k.h"

#include "engine/kernels/cpu/matmul_quantized.h"

namespace tandem::kernels::TANDEM_SET {
namespace {

template <class S>
struct Kernel : KernelBase<S, Q6_K> {
  struct Block {
    typename S::I v[8];
    HalfScales<S> scales;
  };
  TANDEM_INLINE static Block load(const Units<S>& u, int b) {
    const int at = b * Q6_K::kBlockBytes;
    Block block;
    unpackNibbles<S>(u, at, block.v);
    const typename S::I mask = S::everyByte(0x30);
    for (int half = 0; half < 2; ++half) {
      const typename S::I high = S::bytes(u, at + Q6_K::kHighAt + 32 * half);
      typename S::I* v = block.v + 4 * half;
      v[0] = S::either(v[0], S::both(S::template left<4>(high), mask));
      v[1] = S::either(v[1], S::both(S::template left<2>(high), mask));
      v[2] = S::either(v[2], S::both(high, mask));
      v[3] = S::either(v[3], S::both(S::template right<2>(high), mask));
    }
    block.scales = HalfScales<S>::of(S::bytePairs(u, at + Q6_K::kSubScaleAt));
    return block;
  }
  template <class Rows, int R>
  TANDEM_INLINE static void integerSums(const Block& block, const Rows& x, Sums<S, R>& sum) {
    dotHalves<S, 2, 5>(block.v, x, block.scales, sum);
  }
};

}  // namespace

void matmulQ6_K(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin, int groupEnd,
                float* out, std::size_t outStride) {
  matmul<Kernel>(w, x, rows, groupBegin, groupEnd, out, outStride);
}

}  // namespace tandem::kernels::TANDEM_SET
