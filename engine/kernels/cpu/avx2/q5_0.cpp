// Q5_0 on AVX2: the sum of (q - 16) a is that of q a less 16 times the sum of a. int16 stage: a maddubs pair
// is at most 2 * 31 * 127 = 7,874; four of them 31,496 < 2^15, so even and odd vectors stay apart.
#include "engine/kernels/quant/q5_0.h"

#include "engine/kernels/cpu/avx2/matmul_quantized.h"

namespace tandem::kernels::avx2 {
namespace {

struct Q5_0Avx2 {
  static constexpr bool kHasMinimum = false;
  static constexpr int kBlocksPerUnit = 1;
  static constexpr int kPackedBytes = Q5_0::kPackedBytes;
  struct Vectors {
    __m256i v[8];
  };
  // Moves bit i of every byte to bit 4.
  template <int i>
  TANDEM_INLINE static __m256i fifthBit(__m256i high) {
    const __m256i moved =
        i <= 4 ? _mm256_slli_epi16(high, i <= 4 ? 4 - i : 0) : _mm256_srli_epi16(high, i > 4 ? i - 4 : 0);
    return _mm256_and_si256(moved, _mm256_set1_epi8(16));
  }
  TANDEM_INLINE static Vectors load(const std::uint8_t* unit, int) {
    Vectors out;
    unpackNibbles(unit, out.v);
    const __m256i high = load32(unit + Q5_0::kHighAt);
    out.v[0] = _mm256_or_si256(out.v[0], fifthBit<0>(high));
    out.v[1] = _mm256_or_si256(out.v[1], fifthBit<1>(high));
    out.v[2] = _mm256_or_si256(out.v[2], fifthBit<2>(high));
    out.v[3] = _mm256_or_si256(out.v[3], fifthBit<3>(high));
    out.v[4] = _mm256_or_si256(out.v[4], fifthBit<4>(high));
    out.v[5] = _mm256_or_si256(out.v[5], fifthBit<5>(high));
    out.v[6] = _mm256_or_si256(out.v[6], fifthBit<6>(high));
    out.v[7] = _mm256_or_si256(out.v[7], fifthBit<7>(high));
    return out;
  }
  TANDEM_INLINE static __m256i integerSum(const Vectors& x, const std::int8_t* a, const std::int16_t* sums) {
    __m256i even = _mm256_maddubs_epi16(x.v[0], broadcastWord(a, 0));
    __m256i odd = _mm256_maddubs_epi16(x.v[1], broadcastWord(a, 1));
    for (int i = 2; i < 8; i += 2) {
      even = _mm256_add_epi16(even, _mm256_maddubs_epi16(x.v[i], broadcastWord(a, i)));
      odd = _mm256_add_epi16(odd, _mm256_maddubs_epi16(x.v[i + 1], broadcastWord(a, i + 1)));
    }
    const __m256i one = _mm256_set1_epi16(1);
    const __m256i sum = _mm256_add_epi32(_mm256_madd_epi16(even, one), _mm256_madd_epi16(odd, one));
    return _mm256_sub_epi32(sum, _mm256_madd_epi16(broadcastWord(sums, 0), _mm256_set1_epi16(16)));
  }
  TANDEM_INLINE static F8 scale(const std::uint8_t* unit, int) { return loadHalves(unit + Q5_0::kScaleAt); }
};

}  // namespace

void matmulQ5_0(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin, int groupEnd,
                float* out, std::size_t outStride) {
  matmul<Q5_0Avx2>(w, x, rows, groupBegin, groupEnd, out, outStride);
}

}  // namespace tandem::kernels::avx2
