// Q4_1. int16 stage: a sum of two products is at most 2 * 15 * 127 = 3,810; eight of them 30,480 < 2^15.
#include "engine/kernels/quant/q4_1.h"

#include "engine/kernels/cpu/matmul_quantized.h"

namespace tandem::kernels::TANDEM_SET {
namespace {

template <class S>
struct Kernel : KernelBase<S, Q4_1> {
  using typename KernelBase<S, Q4_1>::Block;
  TANDEM_INLINE static Block load(const Units<S>& u, int) {
    Block block;
    unpackNibbles<S>(u, 0, block.v);
    return block;
  }
  template <class Rows, int R>
  TANDEM_INLINE static void integerSums(const Block& block, const Rows& x, Sums<S, R>& sum) {
    dotUnsigned<S, 8>(block.v, x, sum);
  }
};

}  // namespace

void matmulQ4_1(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin, int groupEnd,
                float* out, std::size_t outStride) {
  matmul<Kernel>(w, x, rows, groupBegin, groupEnd, out, outStride);
}

}  // namespace tandem::kernels::TANDEM_SET
