// exp and tanh in fp32: one polynomial source for every kernel set. V is float or a SIMD wrapper of floats
// with the same operators and the functions fma, roundEven, minOf, maxOf, scaleByPowerOfTwo (or, in its
// place, timesPowerOfTwo), select and lessThan found by ADL.
//
// Every step is an IEEE operation or an explicit fma, so a lane and a scalar give the same bits. All
// functions are always inlined: a file built for one instruction set must not leave a copy that the linker
// could give to another.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace tandem::kernels {

// The scalar side of the V concept.
[[gnu::always_inline]] inline float fma(float a, float b, float c) {
  return std::fmaf(a, b, c);
}
// x rounded to an integer, ties to even. REQUIRES: |x| < 2^22 (adding 1.5 * 2^23 leaves no fraction bits).
[[gnu::always_inline]] inline float roundEven(float x) {
  return (x + 0x1.8p23f) - 0x1.8p23f;
}
// The smaller and larger of two; the second operand when either is NaN, like MINPS and MAXPS.
[[gnu::always_inline]] inline float minOf(float a, float b) {
  return a < b ? a : b;
}
[[gnu::always_inline]] inline float maxOf(float a, float b) {
  return a > b ? a : b;
}
// x * 2^n for an integral n in -126 … 127, by one multiplication. n + 1.5 * 2^23 holds n in its low bits.
[[gnu::always_inline]] inline float scaleByPowerOfTwo(float x, float n) {
  const std::uint32_t integer = std::bit_cast<std::uint32_t>(n + 0x1.8p23f) - 0x4B400000u;
  return x * std::bit_cast<float>((integer + 127u) << 23);
}
[[gnu::always_inline]] inline bool lessThan(float a, float b) {
  return a < b;
}
[[gnu::always_inline]] inline float select(bool mask, float yes, float no) {
  return mask ? yes : no;
}
[[gnu::always_inline]] inline float absOf(float x) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0x7FFFFFFFu);
}

template <class V>
V broadcast(float x);
template <>
[[gnu::always_inline]] inline float broadcast<float>(float x) {
  return x;
}

// p 2^n, rounded once, for p near 1 and every n in -159 … 129: by two factors, so that both are normal
// numbers.
template <class V>
[[gnu::always_inline]] inline V timesPowerOfTwo(V p, V n) {
  const V half = roundEven(n * broadcast<V>(0.5f));
  return scaleByPowerOfTwo(scaleByPowerOfTwo(p, half), n - half);
}

// e^x. Error below 1.5 ulp where the result is normal; 0 below -104, infinity above 88.73; NaN stays NaN.
// x = n ln 2 + r, |r| <= ln 2 / 2; e^r by its Taylor sum to r^7 / 7! (next term below 2^-27 of the sum).
template <class V>
[[gnu::always_inline]] inline V exp(V x) {
  const auto c = [](float f) { return broadcast<V>(f); };
  // The constant comes first, so that NaN in x passes through.
  x = minOf(c(89.0f), maxOf(c(-110.0f), x));
  const V n = roundEven(x * c(0x1.715476p0f));
  V r = fma(n, c(-0x1.62e4p-1f), x);  // ln 2 in two parts; n times the first is exact
  r = fma(n, c(-0x1.7f7d1cp-20f), r);
  V p = c(1.0f / 5040.0f);
  p = fma(p, r, c(1.0f / 720.0f));
  p = fma(p, r, c(1.0f / 120.0f));
  p = fma(p, r, c(1.0f / 24.0f));
  p = fma(p, r, c(1.0f / 6.0f));
  p = fma(p, r, c(0.5f));
  p = fma(p, r, c(1.0f));
  p = fma(p, r, c(1.0f));
  return timesPowerOfTwo(p, n);
}

// tanh(x): an odd polynomial below 0.625 (coefficients from the Cephes library's single-precision tanh), else
// 1 - 2 / (e^2|x| + 1) with the sign of x. NaN stays NaN.
template <class V>
[[gnu::always_inline]] inline V tanh(V x) {
  const auto c = [](float f) { return broadcast<V>(f); };
  const V magnitude = absOf(x);
  const V square = x * x;
  V p = c(-5.70498872745e-3f);
  p = fma(p, square, c(2.06390887954e-2f));
  p = fma(p, square, c(-5.37397155531e-2f));
  p = fma(p, square, c(1.33314422036e-1f));
  p = fma(p, square, c(-3.33332819422e-1f));
  const V small = fma(p * square, x, x);
  const V large = c(1.0f) - c(2.0f) / (exp(magnitude + magnitude) + c(1.0f));
  const V signedLarge = select(lessThan(x, c(0.0f)), c(0.0f) - large, large);
  return select(lessThan(magnitude, c(0.625f)), small, signedLarge);
}

// x * sigmoid(x) = x / (1 + e^-x).
template <class V>
[[gnu::always_inline]] inline V silu(V x) {
  const V one = broadcast<V>(1.0f);
  return x / (one + exp(broadcast<V>(0.0f) - x));
}

// GELU in its tanh form: 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
template <class V>
[[gnu::always_inline]] inline V gelu(V x) {
  const auto c = [](float f) { return broadcast<V>(f); };
  const V inner = c(0.79788456080286535588f) * (x * fma(c(0.044715f) * x, x, c(1.0f)));
  return (c(0.5f) * x) * (c(1.0f) + tanh(inner));
}

// Logits and attention scores bounded to (-cap, cap): cap tanh(x / cap).
template <class V>
[[gnu::always_inline]] inline V softCap(V x, V cap) {
  return cap * tanh(x / cap);
}

}  // namespace tandem::kernels
