// Q4_K on AVX2. int16 stage as for Q4_1: eight pairs of at most 3,810 make 30,480 < 2^15. The scale d * s and
// the minimum dmin * m are exact in fp32.
#include "engine/kernels/quant/q4_k.h"

#include "engine/kernels/cpu/avx2/matmul_nibbles.h"

namespace tandem::kernels::avx2 {
namespace {

struct Q4_KAvx2 : Nibbles {
  static constexpr int kBlocksPerUnit = 8;
  static constexpr int kPackedBytes = Q4_K::kPackedBytes;
  TANDEM_INLINE static const std::uint8_t* block(const std::uint8_t* unit, int b) {
    return unit + b * Q4_K::kBlockBytes;
  }
  TANDEM_INLINE static Vectors load(const std::uint8_t* unit, int b) { return loadNibbles(block(unit, b)); }
  TANDEM_INLINE static F8 scale(const std::uint8_t* unit, int b) {
    return loadHalves(unit + Q4_K::kScaleAt) * loadBytes(block(unit, b) + Q4_K::kSubScaleAt);
  }
  TANDEM_INLINE static F8 minimum(const std::uint8_t* unit, int b) {
    const F8 product = loadHalves(unit + Q4_K::kMinimumAt) * loadBytes(block(unit, b) + Q4_K::kSubMinimumAt);
    return {_mm256_xor_ps(product.v, _mm256_set1_ps(-0.0f))};
  }
};

}  // namespace

void matmulQ4_K(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin, int groupEnd,
                float* out, std::size_t outStride) {
  matmul<Q4_KAvx2>(w, x, rows, groupBegin, groupEnd, out, outStride);
}

}  // namespace tandem::kernels::avx2
