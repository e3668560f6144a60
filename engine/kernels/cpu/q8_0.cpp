// Q8_0: signed bytes; see dotSigned for its bounds.
#include "engine/kernels/quant/q8_0.h"

#include "engine/kernels/cpu/matmul_quantized.h"

namespace tandem::kernels::TANDEM_SET {
namespace {

template <class S>
struct Kernel : KernelBase<S, Q8_0> {
  using typename KernelBase<S, Q8_0>::Block;
  TANDEM_INLINE static Block load(const Units<S>& u, int) {
    Block block;
    for (int i = 0; i < 8; ++i)
      block.v[i] = S::bytes(u, 32 * i);
    prepareSigned<S>(block.v);
    return block;
  }
  template <class Rows, int R>
  TANDEM_INLINE static void integerSums(const Block& block, const Rows& x, Sums<S, R>& sum) {
    dotSigned<S>(block.v, x, sum);
  }
};

}  // namespace

void matmulQ8_0(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin, int groupEnd,
                float* out, std::size_t outStride) {
  matmul<Kernel>(w, x, rows, groupBegin, groupEnd, out, outStride);
}

}  // namespace tandem::kernels::TANDEM_SET
