// Q4_1 on AVX2. int16 stage: a maddubs pair is at most 2 * 15 * 127 = 3,810; eight of them 30,480 < 2^15.
#include "engine/kernels/quant/q4_1.h"

#include "engine/kernels/cpu/avx2/matmul_nibbles.h"

namespace tandem::kernels::avx2 {
namespace {

struct Q4_1Avx2 : Nibbles {
  static constexpr int kBlocksPerUnit = 1;
  static constexpr int kPackedBytes = Q4_1::kPackedBytes;
  TANDEM_INLINE static Vectors load(const std::uint8_t* unit, int) { return loadNibbles(unit); }
  TANDEM_INLINE static F8 scale(const std::uint8_t* unit, int) { return loadHalves(unit + Q4_1::kScaleAt); }
  TANDEM_INLINE static F8 minimum(const std::uint8_t* unit, int) {
    return loadHalves(unit + Q4_1::kMinimumAt);
  }
};

}  // namespace

void matmulQ4_1(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin, int groupEnd,
                float* out, std::size_t outStride) {
  matmul<Q4_1Avx2>(w, x, rows, groupBegin, groupEnd, out, outStride);
}

}  // namespace tandem::kernels::avx2
