// Q8_0 on AVX2: |w| times a with w's sign. int16 stage: a maddubs pair is at most 2 * 128 * 127 = 32,512 <
// 2^15, and is widened at once. |-128| is 128 as an unsigned byte, and -a is a byte because a is never -128.
#include "engine/kernels/quant/q8_0.h"

#include "engine/kernels/cpu/avx2/matmul_quantized.h"

namespace tandem::kernels::avx2 {
namespace {

struct Q8_0Avx2 {
  static constexpr bool kHasMinimum = false;
  static constexpr int kBlocksPerUnit = 1;
  static constexpr int kPackedBytes = Q8_0::kPackedBytes;
  struct Vectors {
    const std::uint8_t* unit;
  };
  TANDEM_INLINE static Vectors load(const std::uint8_t* unit, int) { return {unit}; }
  TANDEM_INLINE static __m256i integerSum(const Vectors& x, const std::int8_t* a, const std::int16_t*) {
    const __m256i one = _mm256_set1_epi16(1);
    __m256i sum = _mm256_setzero_si256();
    for (int i = 0; i < 8; ++i) {
      const __m256i w = load32(x.unit + 32 * i);
      const __m256i pairs =
          _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(broadcastWord(a, i), w));
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, one));
    }
    return sum;
  }
  TANDEM_INLINE static F8 scale(const std::uint8_t* unit, int) { return loadHalves(unit + Q8_0::kScaleAt); }
};

}  // namespace

void matmulQ8_0(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin, int groupEnd,
                float* out, std::size_t outStride) {
  matmul<Q8_0Avx2>(w, x, rows, groupBegin, groupEnd, out, outStride);
}

}  // namespace tandem::kernels::avx2
