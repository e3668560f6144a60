// Q5_1. int16 stage as for Q5_0: four sums of at most 7,874 make 31,496 < 2^15.
#include "engine/kernels/quant/q5_1.h"

#include "engine/kernels/cpu/matmul_quantized.h"

namespace tandem::kernels::TANDEM_SET {
namespace {

template <class S>
struct Kernel : KernelBase<S, Q5_1> {
  using typename KernelBase<S, Q5_1>::Block;
  TANDEM_INLINE static Block load(const Units<S>& u, int) {
    Block block;
    unpackNibbles<S>(u, 0, block.v);
    addFifthBits<S>(S::bytes(u, Q5_1::kHighAt), block.v);
    return block;
  }
  template <class Rows, int R>
  TANDEM_INLINE static void integerSums(const Block& block, const Rows& x, Sums<S, R>& sum) {
    dotUnsigned<S, 4>(block.v, x, sum);
  }
};

}  // namespace

void matmulQ5_1(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin, int groupEnd,
                float* out, std::size_t outStride) {
  matmul<Kernel>(w, x, rows, groupBegin, groupEnd, out, outStride);
}

}  // namespace tandem::kernels::TANDEM_SET
