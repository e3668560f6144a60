// MXFP4: a shuffle turns a nibble into its doubled number, a signed byte; see dotSigned for its bounds.
#include "engine/kernels/cpu/matmul_quantized.h"
#include "engine/kernels/quant/codebooks.h"

namespace tandem::kernels::TANDEM_SET {
namespace {

template <class S>
struct Kernel {
  using Format = MXFP4;
  struct Block {
    typename S::I v[8];
  };
  TANDEM_INLINE static Block load(const Units<S>& u, int) {
    Block block;
    unpackNibbles<S>(u, 0, block.v);
    for (typename S::I& v : block.v)
      v = S::lookUp(kDoubledE2M1, v);
    return block;
  }
  TANDEM_INLINE static typename S::I integerSum(const Block& block, const std::int8_t* a,
                                                const std::int16_t* sums) {
    return dotSigned<S>(block.v, a, sums);
  }
  TANDEM_INLINE static typename S::F scale(const Units<S>& u, int) { return S::singles(u, MXFP4::kScaleAt); }
};

}  // namespace

void matmulMXFP4(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin, int groupEnd,
                 float* out, std::size_t outStride) {
  matmul<Kernel>(w, x, rows, groupBegin, groupEnd, out, outStride);
}

}  // namespace tandem::kernels::TANDEM_SET
