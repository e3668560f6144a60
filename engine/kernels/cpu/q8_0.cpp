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
    return block;
  }
  TANDEM_INLINE static typename S::I integerSum(const Block& block, const std::int8_t* a,
                                                const std::int16_t* sums) {
    return dotSigned<S>(block.v, a, sums);
  }
};

}  // namespace

void matmulQ8_0(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin, int groupEnd,
                float* out, std::size_t outStride) {
  matmul<Kernel>(w, x, rows, groupBegin, groupEnd, out, outStride);
}

}  // namespace tandem::kernels::TANDEM_SET
