// IQ4_NL: a shuffle turns a nibble into its step, a signed byte; see dotSigned for its bounds.
#include "engine/kernels/cpu/matmul_quantized.h"
#include "engine/kernels/quant/codebooks.h"

namespace tandem::kernels::TANDEM_SET {
namespace {

template <class S>
struct Kernel : KernelBase<S, IQ4_NL> {
  using typename KernelBase<S, IQ4_NL>::Block;
  TANDEM_INLINE static Block load(const Units<S>& u, int) {
    Block block;
    unpackSteps<S>(u, 0, kGrowingSteps, block.v);
    return block;
  }
  template <class Rows, int R>
  TANDEM_INLINE static void integerSums(const Block& block, const Rows& x, Sums<S, R>& sum) {
    dotSigned<S>(block.v, x, sum);
  }
};

}  // namespace

void matmulIQ4_NL(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin, int groupEnd,
                  float* out, std::size_t outStride) {
  matmul<Kernel>(w, x, rows, groupBegin, groupEnd, out, outStride);
}

}  // namespace tandem::kernels::TANDEM_SET
