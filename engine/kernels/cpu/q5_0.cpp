// Q5_0: the sum of (q - 16) a is that of q a less 16 times the sum of a. int16 stage: a sum of two products
// is at most 2 * 31 * 127 = 7,874; four of them 31,496 < 2^15.
#include "engine/kernels/quant/q5_0.h"

#include "engine/kernels/cpu/matmul_quantized.h"

namespace tandem::kernels::TANDEM_SET {
namespace {

template <class S>
struct Kernel : KernelBase<S, Q5_0> {
  using typename KernelBase<S, Q5_0>::Block;
  TANDEM_INLINE static Block load(const Units<S>& u, int) {
    Block block;
    unpackNibbles<S>(u, 0, block.v);
    const typename S::I high = S::bytes(u, Q5_0::kHighAt);
    addFifthBits<S>(high, block.v);
    return block;
  }
  template <class Rows, int R>
  TANDEM_INLINE static void integerSums(const Block& block, const Rows& x, Sums<S, R>& sum) {
    startBelow<S, 16>(x, sum);
    dotUnsigned<S, 4>(block.v, x, sum);
  }
};

}  // namespace

void matmulQ5_0(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin, int groupEnd,
                float* out, std::size_t outStride) {
  matmul<Kernel>(w, x, rows, groupBegin, groupEnd, out, outStride);
}

}  // namespace tandem::kernels::TANDEM_SET
