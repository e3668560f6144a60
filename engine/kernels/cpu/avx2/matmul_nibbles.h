// What the unsigned 4-bit formats share: value = scale * q + minimum, q in 0 … 15.
#pragma once

#include "engine/kernels/cpu/avx2/matmul_quantized.h"

namespace tandem::kernels::avx2 {

struct Nibbles {
  static constexpr bool kHasMinimum = true;
  struct Vectors {
    __m256i v[8];
  };
  TANDEM_INLINE static Vectors loadNibbles(const std::uint8_t* p) {
    Vectors out;
    unpackNibbles(p, out.v);
    return out;
  }
  // Stays in int16 over the whole block: see the bound in the formats' files.
  TANDEM_INLINE static __m256i integerSum(const Vectors& x, const std::int8_t* a, const std::int16_t*) {
    __m256i even = _mm256_maddubs_epi16(x.v[0], broadcastWord(a, 0));
    __m256i odd = _mm256_maddubs_epi16(x.v[1], broadcastWord(a, 1));
    for (int i = 2; i < 8; i += 2) {
      even = _mm256_add_epi16(even, _mm256_maddubs_epi16(x.v[i], broadcastWord(a, i)));
      odd = _mm256_add_epi16(odd, _mm256_maddubs_epi16(x.v[i + 1], broadcastWord(a, i + 1)));
    }
    return _mm256_madd_epi16(_mm256_add_epi16(even, odd), _mm256_set1_epi16(1));
  }
};

}  // namespace tandem::kernels::avx2
