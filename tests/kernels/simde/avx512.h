// AVX-512 for a compiler that builds for AVX2: included before each file of engine/kernels/cpu (-include), it
// replaces the 512-bit intrinsics by SIMDe's, which compute the two halves with AVX2, FMA and F16C. What
// SIMDe 0.7.4 lacks or has wrong is added below; an intrinsic that is missing here does not compile.
#pragma once

#include <immintrin.h>

#include <cmath>

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>

#if !defined(SIMDE_X86_AVX2_NATIVE) || !defined(SIMDE_X86_FMA_NATIVE) || \
    defined(SIMDE_X86_AVX512F_NATIVE) || SIMDE_NATURAL_VECTOR_SIZE != 256
#error "The halves must be AVX2 with a real FMA: elsewhere SIMDe multiplies and adds, which rounds twice."
#endif

// What the kernel files look at. Defined after SIMDe has seen that the compiler has no such instructions.
#define __AVX512F__ 1
#define __AVX512BW__ 1
#define __AVX512DQ__ 1
#define __AVX512VL__ 1
#ifdef TANDEM_EMULATE_VNNI
#define __AVX512VNNI__ 1
#endif

namespace tandem::emulation {

#define TANDEM_EMULATED [[gnu::always_inline]] static inline

TANDEM_EMULATED __m512 joined(__m256 low, __m256 high) {
  simde__m512_private both;
  both.m256[0] = low;
  both.m256[1] = high;
  return simde__m512_from_private(both);
}
TANDEM_EMULATED __m512i joined(__m256i low, __m256i high) {
  simde__m512i_private both;
  both.m256i[0] = low;
  both.m256i[1] = high;
  return simde__m512i_from_private(both);
}

TANDEM_EMULATED __m512 halvesToFloats(__m256i a) {
  return joined(_mm256_cvtph_ps(_mm256_castsi256_si128(a)), _mm256_cvtph_ps(_mm256_extracti128_si256(a, 1)));
}
TANDEM_EMULATED __m512 intsToFloats(__m512i a) {
  const simde__m512i_private halves = simde__m512i_to_private(a);
  return joined(_mm256_cvtepi32_ps(halves.m256i[0]), _mm256_cvtepi32_ps(halves.m256i[1]));
}
TANDEM_EMULATED __m512i signedBytesToInts(__m128i a) {
  return joined(_mm256_cvtepi8_epi32(a), _mm256_cvtepi8_epi32(_mm_srli_si128(a, 8)));
}
TANDEM_EMULATED __m512i unsignedBytesToInts(__m128i a) {
  return joined(_mm256_cvtepu8_epi32(a), _mm256_cvtepu8_epi32(_mm_srli_si128(a, 8)));
}
TANDEM_EMULATED __m512i arithmeticRight32(__m512i a, int n) {
  const simde__m512i_private halves = simde__m512i_to_private(a);
  return joined(_mm256_srai_epi32(halves.m256i[0], n), _mm256_srai_epi32(halves.m256i[1], n));
}
// SIMDe takes the next three byte by byte, which takes the compiler minutes.
// sum + four products of unsigned bytes of w and signed bytes of a: those of the even bytes, then of the odd.
TANDEM_EMULATED __m256i addByteProducts(__m256i sum, __m256i w, __m256i a) {
  const __m256i evenW = _mm256_and_si256(w, _mm256_set1_epi16(255)), oddW = _mm256_srli_epi16(w, 8);
  const __m256i evenA = _mm256_srai_epi16(_mm256_slli_epi16(a, 8), 8), oddA = _mm256_srai_epi16(a, 8);
  const __m256i even = _mm256_madd_epi16(evenW, evenA), odd = _mm256_madd_epi16(oddW, oddA);
  return _mm256_add_epi32(sum, _mm256_add_epi32(even, odd));
}
TANDEM_EMULATED __m512i addByteProducts(__m512i sum, __m512i w, __m512i a) {
  const simde__m512i_private s = simde__m512i_to_private(sum), x = simde__m512i_to_private(w),
                             y = simde__m512i_to_private(a);
  return joined(addByteProducts(s.m256i[0], x.m256i[0], y.m256i[0]),
                addByteProducts(s.m256i[1], x.m256i[1], y.m256i[1]));
}
TANDEM_EMULATED __mmask64 signs8(__m512i a) {
  const simde__m512i_private halves = simde__m512i_to_private(a);
  const auto low = static_cast<unsigned>(_mm256_movemask_epi8(halves.m256i[0]));
  const auto high = static_cast<unsigned>(_mm256_movemask_epi8(halves.m256i[1]));
  return static_cast<__mmask64>(high) << 32 | low;
}
TANDEM_EMULATED __m256i maskedSubtract8(__m256i source, unsigned mask, __m256i a, __m256i b) {
  // Byte i of a half: bit i % 8 of the mask's byte i / 8.
  const __m256i byteOfMask =
      _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i bit = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201));
  const __m256i bits =
      _mm256_and_si256(_mm256_shuffle_epi8(_mm256_set1_epi32(static_cast<int>(mask)), byteOfMask), bit);
  return _mm256_blendv_epi8(source, _mm256_sub_epi8(a, b), _mm256_cmpeq_epi8(bits, bit));
}
TANDEM_EMULATED __m512i maskedSubtract8(__m512i source, __mmask64 mask, __m512i a, __m512i b) {
  const simde__m512i_private s = simde__m512i_to_private(source), x = simde__m512i_to_private(a),
                             y = simde__m512i_to_private(b);
  return joined(maskedSubtract8(s.m256i[0], static_cast<unsigned>(mask), x.m256i[0], y.m256i[0]),
                maskedSubtract8(s.m256i[1], static_cast<unsigned>(mask >> 32), x.m256i[1], y.m256i[1]));
}
// These touch no lane that the mask leaves out.
TANDEM_EMULATED __m512 loadMasked(__mmask16 mask, const float* in) {
  simde__m512_private lanes;
  for (int i = 0; i < 16; ++i)
    lanes.f32[i] = mask >> i & 1 ? in[i] : 0.0f;
  return simde__m512_from_private(lanes);
}
TANDEM_EMULATED void storeMasked(float* out, __mmask16 mask, __m512 x) {
  const simde__m512_private lanes = simde__m512_to_private(x);
  for (int i = 0; i < 16; ++i) {
    if (mask >> i & 1) out[i] = lanes.f32[i];
  }
}
// SIMDe multiplies by 2^n, which may be no float where the product is one.
TANDEM_EMULATED __m512 scaled(__m512 a, __m512 n) {
  simde__m512_private lanes = simde__m512_to_private(a);
  const simde__m512_private powers = simde__m512_to_private(n);
  for (int i = 0; i < 16; ++i) {
    const float power = powers.f32[i];
    lanes.f32[i] =
        std::isnan(power) ? lanes.f32[i] + power : std::scalbn(lanes.f32[i], static_cast<int>(power));
  }
  return simde__m512_from_private(lanes);
}
#ifdef TANDEM_ALTERED_EMULATION
// The planted fault: a sum of a product that is rounded twice.
TANDEM_EMULATED __m512 multiplyThenAdd(__m512 a, __m512 b, __m512 c) {
  return simde_mm512_add_ps(simde_mm512_mul_ps(a, b), c);
}
#undef _mm512_fmadd_ps
#define _mm512_fmadd_ps(a, b, c) tandem::emulation::multiplyThenAdd(a, b, c)
#endif

#undef TANDEM_EMULATED

}  // namespace tandem::emulation

// Whatever the compiler or SIMDe has of these goes.
#undef _mm512_cvtph_ps
#undef _mm512_cvtepi32_ps
#undef _mm512_cvtepi8_epi32
#undef _mm512_cvtepu8_epi32
#undef _mm512_srai_epi32
#undef _mm256_dpbusd_epi32
#undef _mm512_dpbusd_epi32
#undef _mm512_movepi8_mask
#undef _mm512_mask_sub_epi8
#undef _mm512_maskz_loadu_ps
#undef _mm512_mask_storeu_ps
#undef _mm512_shuffle_f32x4
#undef _mm512_madd_epi16
#undef _mm512_scalef_ps

#define _mm512_cvtph_ps(a) tandem::emulation::halvesToFloats(a)
#define _mm512_cvtepi32_ps(a) tandem::emulation::intsToFloats(a)
#define _mm512_cvtepi8_epi32(a) tandem::emulation::signedBytesToInts(a)
#define _mm512_cvtepu8_epi32(a) tandem::emulation::unsignedBytesToInts(a)
#define _mm512_srai_epi32(a, n) tandem::emulation::arithmeticRight32(a, n)
#define _mm256_dpbusd_epi32(sum, w, a) tandem::emulation::addByteProducts(sum, w, a)
#define _mm512_dpbusd_epi32(sum, w, a) tandem::emulation::addByteProducts(sum, w, a)
#define _mm512_movepi8_mask(a) tandem::emulation::signs8(a)
#define _mm512_mask_sub_epi8(s, mask, a, b) tandem::emulation::maskedSubtract8(s, mask, a, b)
#define _mm512_scalef_ps(a, n) tandem::emulation::scaled(a, n)
#define _mm512_maskz_loadu_ps(mask, p) tandem::emulation::loadMasked(mask, p)
#define _mm512_mask_storeu_ps(p, mask, x) tandem::emulation::storeMasked(p, mask, x)
// SIMDe has these, but without an alias that works.
#define _mm512_shuffle_f32x4(a, b, n) simde_mm512_shuffle_f32x4(a, b, n)
#define _mm512_madd_epi16(a, b) simde_mm512_madd_epi16(a, b)
