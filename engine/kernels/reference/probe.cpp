// The probes of the scalar set. The compiler may turn its loops into SSE2, which every x86-64 has, so the
// most it can reach is what SSE2 can: there is no dot product of bytes, and no fused multiply-add.
#include "engine/kernels/reference/probe.h"

#include <emmintrin.h>

namespace tandem::kernels::reference {
namespace {

// Makes the compiler forget what it knows of a register.
template <class V>
[[gnu::always_inline]] inline void forget(V& v) {
  __asm__ volatile("" : "+x"(v));
}

// Eight sums, each of which `step` adds to once a step; variables of their own, to stay in registers.
template <class V, class Step>
[[gnu::always_inline]] inline void sumEight(std::int64_t steps, V zero, Step step) {
  V a = zero, b = zero, c = zero, d = zero, e = zero, f = zero, g = zero, h = zero;
  const auto forgetAll = [](auto&... sums) { (forget(sums), ...); };
  const auto stepAll = [&step](auto&... sums) { ((sums = step(sums)), ...); };
  forgetAll(a, b, c, d, e, f, g, h);  // else they would be known to be equal
  for (std::int64_t n = 0; n < steps; ++n)
    stepAll(a, b, c, d, e, f, g, h);
  forgetAll(a, b, c, d, e, f, g, h);
}

}  // namespace

std::int64_t probeInt8(std::int64_t steps) {
  __m128i w = _mm_set1_epi16(3);
  const __m128i x = _mm_set1_epi16(5);
  sumEight(steps, _mm_setzero_si128(), [&w, x](__m128i sum) {
    forget(w);
    return _mm_add_epi32(sum, _mm_madd_epi16(w, x));
  });
  return steps * 8 * 8;
}

std::int64_t probeFloat(std::int64_t steps) {
  __m128 x = _mm_set1_ps(0.5f);
  const __m128 y = _mm_set1_ps(0.25f);
  sumEight(steps, _mm_setzero_ps(), [&x, y](__m128 sum) {
    forget(x);
    return _mm_add_ps(sum, _mm_mul_ps(x, y));
  });
  return steps * 8 * 4;
}

std::uint32_t probeRead(const std::uint8_t* data, std::size_t bytes) {
  __m128i a = _mm_setzero_si128(), b = a, c = a, d = a;
  for (std::size_t at = 0; at < bytes; at += 4 * sizeof a) {
    const auto* p = reinterpret_cast<const __m128i*>(data + at);
    a = _mm_add_epi32(a, _mm_loadu_si128(p));
    b = _mm_add_epi32(b, _mm_loadu_si128(p + 1));
    c = _mm_add_epi32(c, _mm_loadu_si128(p + 2));
    d = _mm_add_epi32(d, _mm_loadu_si128(p + 3));
  }
  return static_cast<std::uint32_t>(
      _mm_cvtsi128_si32(_mm_add_epi32(_mm_add_epi32(a, b), _mm_add_epi32(c, d))));
}

}  // namespace tandem::kernels::reference
