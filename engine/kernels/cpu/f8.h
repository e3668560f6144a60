// Eight floats in an AVX register, with the operations that math32.h asks of its V. Only for files of this
// folder.
#pragma once

#include <immintrin.h>

#include "engine/kernels/math32.h"

namespace tandem::kernels {
namespace TANDEM_SET {

#define TANDEM_INLINE [[gnu::always_inline]] inline
// Before a loop whose count is constant, so that the array it indexes stays in registers.
#define TANDEM_UNROLL _Pragma("GCC unroll 16")

struct F8 {
  __m256 v;
};

TANDEM_INLINE F8 operator+(F8 a, F8 b) {
  return {_mm256_add_ps(a.v, b.v)};
}
TANDEM_INLINE F8 operator-(F8 a, F8 b) {
  return {_mm256_sub_ps(a.v, b.v)};
}
TANDEM_INLINE F8 operator*(F8 a, F8 b) {
  return {_mm256_mul_ps(a.v, b.v)};
}
TANDEM_INLINE F8 operator/(F8 a, F8 b) {
  return {_mm256_div_ps(a.v, b.v)};
}
TANDEM_INLINE F8 fma(F8 a, F8 b, F8 c) {
  return {_mm256_fmadd_ps(a.v, b.v, c.v)};
}
TANDEM_INLINE F8 minOf(F8 a, F8 b) {
  return {_mm256_min_ps(a.v, b.v)};
}
TANDEM_INLINE F8 maxOf(F8 a, F8 b) {
  return {_mm256_max_ps(a.v, b.v)};
}
TANDEM_INLINE F8 lessThan(F8 a, F8 b) {
  return {_mm256_cmp_ps(a.v, b.v, _CMP_LT_OQ)};
}
TANDEM_INLINE F8 select(F8 mask, F8 yes, F8 no) {
  return {_mm256_blendv_ps(no.v, yes.v, mask.v)};
}
TANDEM_INLINE F8 roundEven(F8 x) {
  const __m256 shift = _mm256_set1_ps(0x1.8p23f);
  return {_mm256_sub_ps(_mm256_add_ps(x.v, shift), shift)};
}
TANDEM_INLINE F8 absOf(F8 x) {
  return {_mm256_and_ps(x.v, _mm256_castsi256_ps(_mm256_set1_epi32(0x7FFFFFFF)))};
}
TANDEM_INLINE F8 scaleByPowerOfTwo(F8 x, F8 n) {
  const __m256i shifted = _mm256_castps_si256(_mm256_add_ps(n.v, _mm256_set1_ps(0x1.8p23f)));
  const __m256i biased = _mm256_sub_epi32(shifted, _mm256_set1_epi32(0x4B400000 - 127));
  return {_mm256_mul_ps(x.v, _mm256_castsi256_ps(_mm256_slli_epi32(biased, 23)))};
}

TANDEM_INLINE F8 load(const float* p) {
  return {_mm256_loadu_ps(p)};
}
TANDEM_INLINE F8 load(const std::uint16_t* p) {
  return {_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
}
TANDEM_INLINE void store(float* p, F8 x) {
  _mm256_storeu_ps(p, x.v);
}
TANDEM_INLINE F8 zero() {
  return {_mm256_setzero_ps()};
}
TANDEM_INLINE F8 all(float x) {
  return {_mm256_set1_ps(x)};
}

// The first n (1 … 7) of eight floats, the rest zero.
TANDEM_INLINE F8 loadSome(const float* p, int n) {
  float buffer[8] = {};
  for (int i = 0; i < n; ++i)
    buffer[i] = p[i];
  return load(buffer);
}
TANDEM_INLINE void storeSome(float* p, F8 x, int n) {
  float buffer[8];
  store(buffer, x);
  for (int i = 0; i < n; ++i)
    p[i] = buffer[i];
}

TANDEM_INLINE float maximum(F8 x) {
  __m128 m = _mm_max_ps(_mm256_castps256_ps128(x.v), _mm256_extractf128_ps(x.v, 1));
  m = _mm_max_ps(m, _mm_movehl_ps(m, m));
  return _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
}

// ((l0+l4)+(l2+l6)) + ((l1+l5)+(l3+l7)), the contract's fold.
TANDEM_INLINE float fold(F8 x) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(x.v), _mm256_extractf128_ps(x.v, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

}  // namespace TANDEM_SET

template <>
[[gnu::always_inline]] inline TANDEM_SET::F8 broadcast<TANDEM_SET::F8>(float x) {
  return TANDEM_SET::all(x);
}

}  // namespace tandem::kernels
