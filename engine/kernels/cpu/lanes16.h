// Sixteen floats in an AVX-512 register, with the operations that math32.h asks of its V, and Widest: the
// widest vector of floats of this instruction set. Only for files of this folder.
#pragma once

#include "engine/kernels/cpu/f8.h"

#ifdef __AVX512BW__
namespace tandem::kernels {
namespace TANDEM_SET {

struct Lanes16 {
  __m512 v;
};

TANDEM_INLINE Lanes16 operator+(Lanes16 a, Lanes16 b) {
  return {_mm512_add_ps(a.v, b.v)};
}
TANDEM_INLINE Lanes16 operator-(Lanes16 a, Lanes16 b) {
  return {_mm512_sub_ps(a.v, b.v)};
}
TANDEM_INLINE Lanes16 operator*(Lanes16 a, Lanes16 b) {
  return {_mm512_mul_ps(a.v, b.v)};
}
TANDEM_INLINE Lanes16 operator/(Lanes16 a, Lanes16 b) {
  return {_mm512_div_ps(a.v, b.v)};
}
TANDEM_INLINE Lanes16 fma(Lanes16 a, Lanes16 b, Lanes16 c) {
  return {_mm512_fmadd_ps(a.v, b.v, c.v)};
}
TANDEM_INLINE Lanes16 minOf(Lanes16 a, Lanes16 b) {
  return {_mm512_min_ps(a.v, b.v)};
}
TANDEM_INLINE Lanes16 maxOf(Lanes16 a, Lanes16 b) {
  return {_mm512_max_ps(a.v, b.v)};
}
TANDEM_INLINE __mmask16 lessThan(Lanes16 a, Lanes16 b) {
  return _mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ);
}
TANDEM_INLINE Lanes16 select(__mmask16 mask, Lanes16 yes, Lanes16 no) {
  return {_mm512_mask_blend_ps(mask, no.v, yes.v)};
}
TANDEM_INLINE Lanes16 roundEven(Lanes16 x) {
  const __m512 shift = _mm512_set1_ps(0x1.8p23f);
  return {_mm512_sub_ps(_mm512_add_ps(x.v, shift), shift)};
}
TANDEM_INLINE Lanes16 absOf(Lanes16 x) {
  return {_mm512_and_ps(x.v, _mm512_castsi512_ps(_mm512_set1_epi32(0x7FFFFFFF)))};
}
// In one instruction, which rounds once too.
TANDEM_INLINE Lanes16 timesPowerOfTwo(Lanes16 p, Lanes16 n) {
  return {_mm512_scalef_ps(p.v, n.v)};
}
TANDEM_INLINE void store(float* p, Lanes16 x) {
  _mm512_storeu_ps(p, x.v);
}

}  // namespace TANDEM_SET

template <>
[[gnu::always_inline]] inline TANDEM_SET::Lanes16 broadcast<TANDEM_SET::Lanes16>(float x) {
  return {_mm512_set1_ps(x)};
}

}  // namespace tandem::kernels
#endif

namespace tandem::kernels::TANDEM_SET {

#ifdef __AVX512BW__
using Widest = Lanes16;
TANDEM_INLINE Widest loadWidest(const float* p) {
  return {_mm512_loadu_ps(p)};
}
TANDEM_INLINE Widest loadWidest(const std::uint16_t* halves) {
  return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(halves)))};
}
#else
using Widest = F8;
TANDEM_INLINE Widest loadWidest(const float* p) {
  return load(p);
}
TANDEM_INLINE Widest loadWidest(const std::uint16_t* halves) {
  return load(halves);
}
#endif
inline constexpr int kWidest = sizeof(Widest) / sizeof(float);

}  // namespace tandem::kernels::TANDEM_SET
