// Which tokens of a vocabulary may win a draw: the noise of all of them, to 24 bits, eight or sixteen at a
// time.
#include "engine/kernels/cpu/cpu_kernels.h"
#include "engine/kernels/cpu/lanes16.h"
#include "engine/kernels/philox.h"

namespace tandem::kernels::TANDEM_SET {
namespace {

#ifdef __AVX512BW__
struct Words {
  __m512i v;
};
TANDEM_INLINE Words everyWord(std::uint32_t x) {
  return {_mm512_set1_epi32(static_cast<std::int32_t>(x))};
}
TANDEM_INLINE Words countedFrom(std::uint32_t x) {
  return {_mm512_add_epi32(everyWord(x).v,
                           _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))};
}
TANDEM_INLINE Words operator^(Words a, Words b) {
  return {_mm512_xor_si512(a.v, b.v)};
}
// The high and low halves of each word times m.
TANDEM_INLINE void multiply(Words a, Words m, Words& high, Words& low) {
  const __m512i even = _mm512_mul_epu32(a.v, m.v), odd = _mm512_mul_epu32(_mm512_srli_epi64(a.v, 32), m.v);
  high = {_mm512_mask_blend_epi32(0xAAAA, _mm512_srli_epi64(even, 32), odd)};
  low = {_mm512_mask_blend_epi32(0xAAAA, even, _mm512_slli_epi64(odd, 32))};
}
// (2^24 - 1 - the upper 24 bits) / 2^24
TANDEM_INLINE Widest leastComplement(Words x) {
  const __m512i upper = _mm512_srli_epi32(_mm512_xor_si512(x.v, _mm512_set1_epi32(-1)), 8);
  return {_mm512_mul_ps(_mm512_cvtepi32_ps(upper), _mm512_set1_ps(0x1p-24f))};
}
TANDEM_INLINE unsigned bitsOf(__mmask16 mask) {
  return mask;
}
#else
struct Words {
  __m256i v;
};
TANDEM_INLINE Words everyWord(std::uint32_t x) {
  return {_mm256_set1_epi32(static_cast<std::int32_t>(x))};
}
TANDEM_INLINE Words countedFrom(std::uint32_t x) {
  return {_mm256_add_epi32(everyWord(x).v, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))};
}
TANDEM_INLINE Words operator^(Words a, Words b) {
  return {_mm256_xor_si256(a.v, b.v)};
}
TANDEM_INLINE void multiply(Words a, Words m, Words& high, Words& low) {
  const __m256i even = _mm256_mul_epu32(a.v, m.v), odd = _mm256_mul_epu32(_mm256_srli_epi64(a.v, 32), m.v);
  high = {_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA)};
  low = {_mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA)};
}
TANDEM_INLINE Widest leastComplement(Words x) {
  const __m256i upper = _mm256_srli_epi32(_mm256_xor_si256(x.v, _mm256_set1_epi32(-1)), 8);
  return {_mm256_mul_ps(_mm256_cvtepi32_ps(upper), _mm256_set1_ps(0x1p-24f))};
}
TANDEM_INLINE unsigned bitsOf(F8 mask) {
  return static_cast<unsigned>(_mm256_movemask_ps(mask.v));
}
#endif

// The upper word of each token's uniform number.
TANDEM_INLINE Words upperWords(std::uint32_t firstToken, const Draw& draw) {
  Words c[4] = {countedFrom(firstToken), everyWord(static_cast<std::uint32_t>(draw.index)),
                everyWord(static_cast<std::uint32_t>(draw.index >> 32)), everyWord(draw.choice)};
  std::uint32_t key[2] = {static_cast<std::uint32_t>(draw.seed), static_cast<std::uint32_t>(draw.seed >> 32)};
  for (int round = 0; round < kPhiloxRounds; ++round) {
    Words high0, low0, high1, low1;
    multiply(c[0], everyWord(kPhiloxMultipliers[0]), high0, low0);
    multiply(c[2], everyWord(kPhiloxMultipliers[1]), high1, low1);
    c[0] = high1 ^ c[1] ^ everyWord(key[0]);
    c[1] = low1;
    c[2] = high0 ^ c[3] ^ everyWord(key[1]);
    c[3] = low0;
    key[0] += kPhiloxKeySteps[0];
    key[1] += kPhiloxKeySteps[1];
  }
  return c[1];
}

}  // namespace

int contenders(const float* logits, int n, const Draw& draw, int* tokens) {
  const Widest highest = broadcast<Widest>(draw.highest), scale = broadcast<Widest>(draw.inverseTemperature);
  const Widest best = broadcast<Widest>(draw.best), margin = broadcast<Widest>(1.001f);
  int count = 0;
  for (int i = 0; i < n; i += kWidest) {
    float rest[kWidest];
    if (i + kWidest > n) {
      for (int l = 0; l < kWidest; ++l)
        rest[l] = i + l < n ? logits[i + l] : -__builtin_inff();
    }
    const Widest score = (loadWidest(i + kWidest > n ? rest : logits + i) - highest) * scale;
    const Widest least = leastComplement(upperWords(static_cast<std::uint32_t>(i), draw));
    const Widest most = exp(score - best) * margin;
    for (unsigned left = bitsOf(lessThan(least, most)); left != 0; left &= left - 1) {
      const int token = i + __builtin_ctz(left);
      if (token < n) tokens[count++] = token;
    }
  }
  return count;
}

int atLeast(const float* x, int n, float threshold, int* indices) {
  const Widest bound = broadcast<Widest>(threshold);
  int count = 0, i = 0;
  for (; i + kWidest <= n; i += kWidest) {
    const unsigned below = bitsOf(lessThan(loadWidest(x + i), bound));
    for (unsigned left = ~below & ((1u << kWidest) - 1); left != 0; left &= left - 1)
      indices[count++] = i + __builtin_ctz(left);
  }
  for (; i < n; ++i) {
    if (!(x[i] < threshold)) indices[count++] = i;
  }
  return count;
}

}  // namespace tandem::kernels::TANDEM_SET
