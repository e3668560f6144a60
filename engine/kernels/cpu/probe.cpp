// What this instruction set can do at most: loops whose operands stay in registers, and one that only reads.
// Empty asm statements keep the compiler from moving work out of a loop or leaving it out.
#include <immintrin.h>

#include "engine/kernels/cpu/cpu_kernels.h"
#include "engine/kernels/cpu/f8.h"

namespace tandem::kernels::TANDEM_SET {
namespace {

#ifdef __AVX512BW__
using Int = __m512i;
using Float = __m512;
constexpr int kFloats = 16;
TANDEM_INLINE Float fmaOf(Float a, Float b, Float c) {
  return _mm512_fmadd_ps(a, b, c);
}
TANDEM_INLINE Int addOf(Int a, Int b) {
  return _mm512_add_epi32(a, b);
}
TANDEM_INLINE Int productsOf(Int w, Int a) {
  return _mm512_maddubs_epi16(w, a);
}
TANDEM_INLINE Int addShort(Int a, Int b) {
  return _mm512_add_epi16(a, b);
}
TANDEM_INLINE Int widen(Int pairs) {
  return _mm512_madd_epi16(pairs, _mm512_set1_epi16(1));
}
TANDEM_INLINE Int loadOf(const std::uint8_t* p) {
  return _mm512_loadu_si512(p);
}
TANDEM_INLINE Int everyByte(char x) {
  return _mm512_set1_epi8(x);
}
TANDEM_INLINE std::uint32_t firstLane(Int a) {
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm512_castsi512_si128(a)));
}
TANDEM_INLINE Float everyFloat(float x) {
  return _mm512_set1_ps(x);
}
#else
using Int = __m256i;
using Float = __m256;
constexpr int kFloats = 8;
TANDEM_INLINE Float fmaOf(Float a, Float b, Float c) {
  return _mm256_fmadd_ps(a, b, c);
}
TANDEM_INLINE Int addOf(Int a, Int b) {
  return _mm256_add_epi32(a, b);
}
TANDEM_INLINE Int productsOf(Int w, Int a) {
  return _mm256_maddubs_epi16(w, a);
}
TANDEM_INLINE Int addShort(Int a, Int b) {
  return _mm256_add_epi16(a, b);
}
TANDEM_INLINE Int widen(Int pairs) {
  return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}
TANDEM_INLINE Int loadOf(const std::uint8_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
TANDEM_INLINE Int everyByte(char x) {
  return _mm256_set1_epi8(x);
}
TANDEM_INLINE std::uint32_t firstLane(Int a) {
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm256_castsi256_si128(a)));
}
TANDEM_INLINE Float everyFloat(float x) {
  return _mm256_set1_ps(x);
}
#endif
constexpr int kBytes = 4 * kFloats;  // of a vector

// Makes the compiler forget what it knows of a register.
template <class V>
TANDEM_INLINE void forget(V& v) {
  __asm__ volatile("" : "+v"(v));
}

// Twelve sums, each of which `step` adds to once a step: an instruction may take five cycles and two begin in
// one. Variables of their own, since the elements of an array would go to memory and back.
template <class V, class Step>
TANDEM_INLINE void sumTwelve(std::int64_t steps, V zero, Step step) {
  V a = zero, b = zero, c = zero, d = zero, e = zero, f = zero;
  V g = zero, h = zero, i = zero, j = zero, k = zero, l = zero;
  const auto forgetAll = [](auto&... sums) { (forget(sums), ...); };
  const auto stepAll = [step](auto&... sums) { ((sums = step(sums)), ...); };
  forgetAll(a, b, c, d, e, f, g, h, i, j, k, l);  // else they would be known to be equal
  for (std::int64_t n = 0; n < steps; ++n)
    stepAll(a, b, c, d, e, f, g, h, i, j, k, l);
  forgetAll(a, b, c, d, e, f, g, h, i, j, k, l);
}

}  // namespace

#ifdef __AVX512VNNI__
std::int64_t probeInt8(std::int64_t steps) {
  const Int w = everyByte(3), x = everyByte(5);
  sumTwelve(steps, everyByte(0), [w, x](Int sum) { return _mm512_dpbusd_epi32(sum, w, x); });
  return steps * 12 * kBytes;
}
#else
// Eight sums of products are added in int16 before they are widened: as many as weights of four bits allow,
// and the most that any format does.
std::int64_t probeInt8(std::int64_t steps) {
  Int w = everyByte(3), a = everyByte(0), b = a, c = a;
  const Int x = everyByte(5);
  const auto addEight = [&w, x](Int sum) {
    Int pairs = productsOf(w, x);
    for (int i = 1; i < 8; ++i) {
      forget(w);
      pairs = addShort(pairs, productsOf(w, x));
    }
    return addOf(sum, widen(pairs));
  };
  for (std::int64_t step = 0; step < steps; ++step) {
    a = addEight(a);
    b = addEight(b);
    c = addEight(c);
  }
  forget(a);
  forget(b);
  forget(c);
  return steps * 3 * 8 * kBytes;
}
#endif

std::int64_t probeFloat(std::int64_t steps) {
  const Float x = everyFloat(0.5f), y = everyFloat(0.25f);
  sumTwelve(steps, everyFloat(0.0f), [x, y](Float sum) { return fmaOf(x, y, sum); });
  return steps * 12 * kFloats;
}

std::uint32_t probeRead(const std::uint8_t* data, std::size_t bytes) {
  constexpr std::size_t kStep = 8 * kBytes, kAhead = 4096;
  Int a = everyByte(0), b = a, c = a, d = a;
  for (std::size_t at = 0; at < bytes; at += kStep) {
    const std::uint8_t* p = data + at;
    for (std::size_t line = 0; line < kStep; line += 64)
      _mm_prefetch(reinterpret_cast<const char*>(p + kAhead + line), _MM_HINT_T0);
    a = addOf(addOf(a, loadOf(p)), loadOf(p + 4 * kBytes));
    b = addOf(addOf(b, loadOf(p + kBytes)), loadOf(p + 5 * kBytes));
    c = addOf(addOf(c, loadOf(p + 2 * kBytes)), loadOf(p + 6 * kBytes));
    d = addOf(addOf(d, loadOf(p + 3 * kBytes)), loadOf(p + 7 * kBytes));
  }
  a = addOf(addOf(a, b), addOf(c, d));
  return firstLane(a);
}

}  // namespace tandem::kernels::TANDEM_SET
