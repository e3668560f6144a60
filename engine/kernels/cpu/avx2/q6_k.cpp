// Q6_K on AVX2: s (q - 32) a = s q a - 32 s a, per half block. int16 stage: a maddubs pair is at most
// 2 * 63 * 127 = 16,002; two of them 32,004 < 2^15. The sub-scales enter by madd, exact in int32:
// |s| * 2 * 32,004 < 2^23, four such sums and the offset stay below 2^26.
#include "engine/kernels/quant/q6_k.h"

#include "engine/kernels/cpu/avx2/matmul_quantized.h"

namespace tandem::kernels::avx2 {
namespace {

struct Q6_KAvx2 {
  static constexpr bool kHasMinimum = false;
  static constexpr int kBlocksPerUnit = 8;
  static constexpr int kPackedBytes = Q6_K::kPackedBytes;
  struct Vectors {
    __m256i v[8];
    __m256i subScales;  // (s0, s1) as int16 in each column's lane
  };
  TANDEM_INLINE static Vectors load(const std::uint8_t* unit, int b) {
    const std::uint8_t* block = unit + b * Q6_K::kBlockBytes;
    Vectors out;
    unpackNibbles(block, out.v);
    const __m256i mask = _mm256_set1_epi8(0x30);
    for (int half = 0; half < 2; ++half) {
      const __m256i high = load32(block + Q6_K::kHighAt + 32 * half);
      __m256i* v = out.v + 4 * half;
      v[0] = _mm256_or_si256(v[0], _mm256_and_si256(_mm256_slli_epi16(high, 4), mask));
      v[1] = _mm256_or_si256(v[1], _mm256_and_si256(_mm256_slli_epi16(high, 2), mask));
      v[2] = _mm256_or_si256(v[2], _mm256_and_si256(high, mask));
      v[3] = _mm256_or_si256(v[3], _mm256_and_si256(_mm256_srli_epi16(high, 2), mask));
    }
    out.subScales =
        _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(block + Q6_K::kSubScaleAt)));
    return out;
  }
  TANDEM_INLINE static __m256i integerSum(const Vectors& x, const std::int8_t* a, const std::int16_t* sums) {
    // s0 and s1 of each column, doubled to both int16 of its lane.
    const __m256i s0 = _mm256_shuffle_epi8(
        x.subScales, _mm256_setr_epi8(0, 1, 0, 1, 4, 5, 4, 5, 8, 9, 8, 9, 12, 13, 12, 13, 0, 1, 0, 1, 4, 5, 4,
                                      5, 8, 9, 8, 9, 12, 13, 12, 13));
    const __m256i s1 = _mm256_shuffle_epi8(
        x.subScales, _mm256_setr_epi8(2, 3, 2, 3, 6, 7, 6, 7, 10, 11, 10, 11, 14, 15, 14, 15, 2, 3, 2, 3, 6,
                                      7, 6, 7, 10, 11, 10, 11, 14, 15, 14, 15));
    __m256i sum = _mm256_setzero_si256();
    for (int i = 0; i < 8; i += 2) {
      const __m256i pair = _mm256_add_epi16(_mm256_maddubs_epi16(x.v[i], broadcastWord(a, i)),
                                            _mm256_maddubs_epi16(x.v[i + 1], broadcastWord(a, i + 1)));
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pair, i < 4 ? s0 : s1));
    }
    const __m256i offset = _mm256_madd_epi16(x.subScales, broadcastWord(sums, 0));
    return _mm256_sub_epi32(sum, _mm256_slli_epi32(offset, 5));
  }
  TANDEM_INLINE static F8 scale(const std::uint8_t* unit, int) { return loadHalves(unit + Q6_K::kScaleAt); }
};

}  // namespace

void matmulQ6_K(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin, int groupEnd,
                float* out, std::size_t outStride) {
  matmul<Q6_KAvx2>(w, x, rows, groupBegin, groupEnd, out, outStride);
}

}  // namespace tandem::kernels::avx2
