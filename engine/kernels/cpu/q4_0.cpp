// Q4_0: the sum of (q - 8) a is that of q a less 8 times the sum of a. int16 stage as for Q4_1.
#include "engine/kernels/quant/q4_0.h"

#include "engine/kernels/cpu/matmul_quantized.h"

namespace tandem::kernels::TANDEM_SET {
namespace {

template <class S>
struct Kernel : KernelBase<S, Q4_0> {
  using typename KernelBase<S, Q4_0>::Block;
  TANDEM_INLINE static Block load(const Units<S>& u, int) {
    Block block;
    unpackNibbles<S>(u, 0, block.v);
    return block;
  }
  template <class Rows, int R>
  TANDEM_INLINE static void integerSums(const Block& block, const Rows& x, Sums<S, R>& sum) {
    startBelow<S, 8>(x, sum);
    dotUnsigned<S, 8>(block.v, x, sum);
  }
};

}  // namespace

void matmulQ4_0(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin, int groupEnd,
                float* out, std::size_t outStride) {
  matmul<Kernel>(w, x, rows, groupBegin, groupEnd, out, outStride);
}

}  // namespace tandem::kernels::TANDEM_SET
