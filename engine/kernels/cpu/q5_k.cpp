// Q5_K. int16 stage as for Q5_0: four sums of at most 7,874 make 31,496 < 2^15. The scale d * s and the
// minimum dmin * m are exact in fp32.
#include "engine/kernels/quant/q5_k.h"

#include "engine/kernels/cpu/matmul_quantized.h"

namespace tandem::kernels::TANDEM_SET {
namespace {

template <class S>
struct Kernel : KernelBase<S, Q5_K> {
  using typename KernelBase<S, Q5_K>::Block;
  TANDEM_INLINE static Block load(const Units<S>& u, int b) {
    Block block;
    const int at = b * Q5_K::kBlockBytes;
    unpackNibbles<S>(u, at, block.v);
    addFifthBits<S>(S::bytes(u, at + Q5_K::kHighAt), block.v);
    return block;
  }
  template <class Rows, int R>
  TANDEM_INLINE static void integerSums(const Block& block, const Rows& x, Sums<S, R>& sum) {
    dotUnsigned<S, 4>(block.v, x, sum);
  }
  TANDEM_INLINE static typename S::F scale(const Units<S>& u, int b) {
    return S::halves(u, Q5_K::kScaleAt) * S::byteValues(u, b * Q5_K::kBlockBytes + Q5_K::kSubScaleAt);
  }
  TANDEM_INLINE static typename S::F minimum(const Units<S>& u, int b) {
    return S::negative(S::halves(u, Q5_K::kMinimumAt) *
                       S::byteValues(u, b * Q5_K::kBlockBytes + Q5_K::kSubMinimumAt));
  }
};

}  // namespace

void matmulQ5_K(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin, int groupEnd,
                float* out, std::size_t outStride) {
  matmul<Kernel>(w, x, rows, groupBegin, groupEnd, out, outStride);
}

}  // namespace tandem::kernels::TANDEM_SET
