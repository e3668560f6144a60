// What the quantised matrix products ask of a vector unit. A lane is a column: Narrow holds one group of
// eight columns, Wide two (AVX-512). Every operation is exact in integers or one IEEE operation, so the width
// and the instruction set change no bit. Only for files of this folder.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "engine/kernels/cpu/lanes16.h"

namespace tandem::kernels::TANDEM_SET {

// Where the units of the columns at hand begin, a pointer per group.
template <class S>
struct Units {
  const std::uint8_t* group[S::kGroups];
};

TANDEM_INLINE std::int32_t word(const void* p, int i) {
  std::int32_t value;
  std::memcpy(&value, static_cast<const char*>(p) + 4 * i, 4);
  return value;
}

struct Narrow {
  static constexpr int kGroups = 1;
  using I = __m256i;  // eight lanes of 32 bits, of four bytes each
  using F = F8;
  using U = Units<Narrow>;

  TANDEM_INLINE static I bytes(const U& u, int at) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(u.group[0] + at));
  }
  TANDEM_INLINE static F halves(const U& u, int at) {  // eight F16
    return {_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(u.group[0] + at)))};
  }
  TANDEM_INLINE static F byteValues(const U& u, int at) {  // eight unsigned bytes
    const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(u.group[0] + at));
    return {_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(eight))};
  }
  TANDEM_INLINE static F signedByteValues(const U& u, int at) {
    const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(u.group[0] + at));
    return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(eight))};
  }
  TANDEM_INLINE static F singles(const U& u, int at) {  // eight F32
    return load(reinterpret_cast<const float*>(u.group[0] + at));
  }
  TANDEM_INLINE static I bytePairs(const U& u, int at) {  // two signed bytes a lane, as int16
    return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(u.group[0] + at)));
  }
  TANDEM_INLINE static I everywhere(std::int32_t x) { return _mm256_set1_epi32(x); }
  TANDEM_INLINE static I everyByte(int x) { return _mm256_set1_epi8(static_cast<char>(x)); }
  TANDEM_INLINE static I none() { return _mm256_setzero_si256(); }
  TANDEM_INLINE static I both(I a, I b) { return _mm256_and_si256(a, b); }
  TANDEM_INLINE static I either(I a, I b) { return _mm256_or_si256(a, b); }
  TANDEM_INLINE static I add(I a, I b) { return _mm256_add_epi32(a, b); }
  TANDEM_INLINE static I subtract(I a, I b) { return _mm256_sub_epi32(a, b); }
  TANDEM_INLINE static I add8(I a, I b) { return _mm256_add_epi8(a, b); }
  TANDEM_INLINE static I times32(I a, I b) { return _mm256_mullo_epi32(a, b); }
  template <int n>
  TANDEM_INLINE static I left32(I a) {
    return _mm256_slli_epi32(a, n);
  }
  template <int n>
  TANDEM_INLINE static I right32(I a) {
    return _mm256_srli_epi32(a, n);
  }
  template <int n>
  TANDEM_INLINE static I arithmeticRight32(I a) {
    return _mm256_srai_epi32(a, n);
  }
  // Shifts of int16; bits that cross into the next byte are masked by the caller.
  template <int n>
  TANDEM_INLINE static I left(I a) {
    return _mm256_slli_epi16(a, n);
  }
  template <int n>
  TANDEM_INLINE static I right(I a) {
    return _mm256_srli_epi16(a, n);
  }
  TANDEM_INLINE static I timesPairs(I a, I b) { return _mm256_madd_epi16(a, b); }  // a0 b0 + a1 b1 of int16
  TANDEM_INLINE static I lookUp(const std::int8_t (&values)[16], I indices) {
    const __m128i row = _mm_loadu_si128(reinterpret_cast<const __m128i*>(values));
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(row), indices);
  }
  TANDEM_INLINE static F floats(I a) { return {_mm256_cvtepi32_ps(a)}; }
  TANDEM_INLINE static F everyLane(float x) { return all(x); }
  TANDEM_INLINE static F nothing() { return zero(); }
  TANDEM_INLINE static F negative(F x) { return {_mm256_xor_ps(x.v, _mm256_set1_ps(-0.0f))}; }
  // Reads and writes the lanes of the `columns` columns that exist.
  TANDEM_INLINE static F read(const float* p, int columns) {
    return columns >= 8 ? load(p) : loadSome(p, columns);
  }
  TANDEM_INLINE static void write(float* out, F x, int columns) {
    columns >= 8 ? store(out, x) : storeSome(out, x, columns);
  }

  // sum + four products a lane of unsigned bytes of w and signed bytes of a. kPairs: how many sums of two
  // such products fit into an int16 together (not needed where the instruction set adds in int32).
#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
  TANDEM_INLINE static I dot(I sum, I w, I a) {
    return _mm256_dpbusd_epi32(sum, w, a);
  }
#else
  TANDEM_INLINE static I products(I w, I a) {
    return _mm256_maddubs_epi16(w, a);
  }
  TANDEM_INLINE static I addShort(I a, I b) {
    return _mm256_add_epi16(a, b);
  }
  TANDEM_INLINE static I widen(I pairs) {
    return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
  }
  TANDEM_INLINE static I magnitude(I w) {
    return _mm256_abs_epi8(w);
  }
  TANDEM_INLINE static I withSignOf(I a, I w) {
    return _mm256_sign_epi8(a, w);
  }
#endif
};

#ifdef __AVX512BW__
struct Wide {
  static constexpr int kGroups = 2;
  using I = __m512i;
  using F = Lanes16;
  using U = Units<Wide>;

  TANDEM_INLINE static __m128i sixteen(const std::uint8_t* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  }
  TANDEM_INLINE static __m256i pairOf(const U& u, int at) {  // sixteen bytes of each group
    return _mm256_inserti128_si256(_mm256_castsi128_si256(sixteen(u.group[0] + at)), sixteen(u.group[1] + at),
                                   1);
  }
  TANDEM_INLINE static I bytes(const U& u, int at) {
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(u.group[0] + at));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(u.group[1] + at));
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  }
  TANDEM_INLINE static F halves(const U& u, int at) { return {_mm512_cvtph_ps(pairOf(u, at))}; }
  TANDEM_INLINE static F byteValues(const U& u, int at) {
    const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(u.group[0] + at));
    const __m128i high = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(u.group[1] + at));
    return {_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_unpacklo_epi64(low, high)))};
  }
  TANDEM_INLINE static F signedByteValues(const U& u, int at) {
    const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(u.group[0] + at));
    const __m128i high = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(u.group[1] + at));
    return {_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_unpacklo_epi64(low, high)))};
  }
  TANDEM_INLINE static F singles(const U& u, int at) { return {_mm512_castsi512_ps(bytes(u, at))}; }
  TANDEM_INLINE static I bytePairs(const U& u, int at) { return _mm512_cvtepi8_epi16(pairOf(u, at)); }
  TANDEM_INLINE static I everywhere(std::int32_t x) { return _mm512_set1_epi32(x); }
  TANDEM_INLINE static I everyByte(int x) { return _mm512_set1_epi8(static_cast<char>(x)); }
  TANDEM_INLINE static I none() { return _mm512_setzero_si512(); }
  TANDEM_INLINE static I both(I a, I b) { return _mm512_and_si512(a, b); }
  TANDEM_INLINE static I either(I a, I b) { return _mm512_or_si512(a, b); }
  TANDEM_INLINE static I add(I a, I b) { return _mm512_add_epi32(a, b); }
  TANDEM_INLINE static I subtract(I a, I b) { return _mm512_sub_epi32(a, b); }
  TANDEM_INLINE static I add8(I a, I b) { return _mm512_add_epi8(a, b); }
  TANDEM_INLINE static I times32(I a, I b) { return _mm512_mullo_epi32(a, b); }
  template <int n>
  TANDEM_INLINE static I left32(I a) {
    return _mm512_slli_epi32(a, n);
  }
  template <int n>
  TANDEM_INLINE static I right32(I a) {
    return _mm512_srli_epi32(a, n);
  }
  template <int n>
  TANDEM_INLINE static I arithmeticRight32(I a) {
    return _mm512_srai_epi32(a, n);
  }
  template <int n>
  TANDEM_INLINE static I left(I a) {
    return _mm512_slli_epi16(a, n);
  }
  template <int n>
  TANDEM_INLINE static I right(I a) {
    return _mm512_srli_epi16(a, n);
  }
  TANDEM_INLINE static I timesPairs(I a, I b) { return _mm512_madd_epi16(a, b); }
  TANDEM_INLINE static I lookUp(const std::int8_t (&values)[16], I indices) {
    const __m128i row = _mm_loadu_si128(reinterpret_cast<const __m128i*>(values));
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(row), indices);
  }
  TANDEM_INLINE static F floats(I a) { return {_mm512_cvtepi32_ps(a)}; }
  TANDEM_INLINE static F everyLane(float x) { return {_mm512_set1_ps(x)}; }
  TANDEM_INLINE static F nothing() { return {_mm512_setzero_ps()}; }
  TANDEM_INLINE static F negative(F x) {
    return {_mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(x.v), _mm512_set1_epi32(INT32_MIN)))};
  }
  TANDEM_INLINE static __mmask16 existing(int columns) {
    return static_cast<__mmask16>(columns >= 16 ? 0xFFFFu : (1u << columns) - 1u);
  }
  TANDEM_INLINE static F read(const float* p, int columns) {
    return {_mm512_maskz_loadu_ps(existing(columns), p)};
  }
  TANDEM_INLINE static void write(float* out, F x, int columns) {
    _mm512_mask_storeu_ps(out, existing(columns), x.v);
  }
#ifdef __AVX512VNNI__
  TANDEM_INLINE static I dot(I sum, I w, I a) {
    return _mm512_dpbusd_epi32(sum, w, a);
  }
#else
  TANDEM_INLINE static I products(I w, I a) {
    return _mm512_maddubs_epi16(w, a);
  }
  TANDEM_INLINE static I addShort(I a, I b) {
    return _mm512_add_epi16(a, b);
  }
  TANDEM_INLINE static I widen(I pairs) {
    return _mm512_madd_epi16(pairs, _mm512_set1_epi16(1));
  }
  TANDEM_INLINE static I magnitude(I w) {
    return _mm512_abs_epi8(w);
  }
  TANDEM_INLINE static I withSignOf(I a, I w) {  // where w is 0 the product is 0 either way
    return _mm512_mask_sub_epi8(a, _mm512_movepi8_mask(w), _mm512_setzero_si512(), a);
  }
#endif
};
#endif

// A block of the activations of R rows: 32 int8 each, the int16 sums of its two halves, and its scales. Rows
// are kStride int8 apart, or `stride` where that is 0; the other arrays follow.
template <int R, int kStride>
struct BlockRows {
  const std::int8_t* q;
  const std::int16_t* sums;
  const float* d;
  const float* s;
  std::size_t stride = kStride;

  TANDEM_INLINE std::size_t at(int row) const { return row * (kStride > 0 ? kStride : stride); }
  TANDEM_INLINE std::int32_t bytes(int row, int i) const { return word(q + at(row), i); }  // 4 i … 4 i + 3
  TANDEM_INLINE std::int32_t halves(int row) const { return word(sums + at(row) / 16, 0); }
  TANDEM_INLINE std::int32_t half(int row, int h) const { return sums[at(row) / 16 + h]; }
  TANDEM_INLINE float scale(int row) const { return d[at(row) / 32]; }
  TANDEM_INLINE float scaledSum(int row) const { return s[at(row) / 32]; }
};

// Integer sums of R rows, a column a lane.
template <class S, int R>
struct Sums {
  typename S::I row[R];
};

// Adds the products of unsigned bytes w[first … first + count - 1] and each row's block, exact in int32.
// kPairs of the int16 sums of two products may be added before they are widened: a format proves its number.
// Rows take turns, so that a sum need not wait for itself.
template <class S, int kPairs, class Rows, int R>
TANDEM_INLINE void dotUnsigned(const typename S::I (&w)[8], const Rows& x, Sums<S, R>& sum, int first = 0,
                               int count = 8) {
#if defined(__AVX512VNNI__)
  if constexpr (R < 4) {
    Sums<S, R> odd;
    TANDEM_UNROLL
    for (int r = 0; r < R; ++r)
      odd.row[r] = S::none();
    TANDEM_UNROLL
    for (int i = first; i < first + count; i += 2) {
      TANDEM_UNROLL
      for (int r = 0; r < R; ++r) {
        sum.row[r] = S::dot(sum.row[r], w[i], S::everywhere(x.bytes(r, i)));
        odd.row[r] = S::dot(odd.row[r], w[i + 1], S::everywhere(x.bytes(r, i + 1)));
      }
    }
    TANDEM_UNROLL
    for (int r = 0; r < R; ++r)
      sum.row[r] = S::add(sum.row[r], odd.row[r]);
  } else {
    TANDEM_UNROLL
    for (int i = first; i < first + count; ++i) {
      TANDEM_UNROLL
      for (int r = 0; r < R; ++r)
        sum.row[r] = S::dot(sum.row[r], w[i], S::everywhere(x.bytes(r, i)));
    }
  }
#else
  TANDEM_UNROLL
  for (int r = 0; r < R; ++r) {
    TANDEM_UNROLL
    for (int i = first; i < first + count; i += kPairs) {
      typename S::I pairs = S::products(w[i], S::everywhere(x.bytes(r, i)));
      for (int j = i + 1; j < i + kPairs && j < first + count; ++j)
        pairs = S::addShort(pairs, S::products(w[j], S::everywhere(x.bytes(r, j))));
      sum.row[r] = S::add(sum.row[r], S::widen(pairs));
    }
  }
#endif
}

// Vectors 0 … 7 of a block's bit pairs, from 64 bytes a group.
template <class S>
TANDEM_INLINE void unpackPairs(const typename S::U& u, int at, typename S::I (&v)[8]) {
  const typename S::I low = S::everyByte(3);
  for (int half = 0; half < 2; ++half) {
    const typename S::I bytes = S::bytes(u, at + 32 * half);
    typename S::I* out = v + 4 * half;
    out[0] = S::both(bytes, low);
    out[1] = S::both(S::template right<2>(bytes), low);
    out[2] = S::both(S::template right<4>(bytes), low);
    out[3] = S::both(S::template right<6>(bytes), low);
  }
}

// Adds bit v of each byte of `high` to vector v as its third bit.
template <class S>
TANDEM_INLINE void addThirdBits(typename S::I high, typename S::I (&v)[8]) {
  const typename S::I mask = S::everyByte(4);
  v[0] = S::either(v[0], S::both(S::template left<2>(high), mask));
  v[1] = S::either(v[1], S::both(S::template left<1>(high), mask));
  v[2] = S::either(v[2], S::both(high, mask));
  v[3] = S::either(v[3], S::both(S::template right<1>(high), mask));
  v[4] = S::either(v[4], S::both(S::template right<2>(high), mask));
  v[5] = S::either(v[5], S::both(S::template right<3>(high), mask));
  v[6] = S::either(v[6], S::both(S::template right<4>(high), mask));
  v[7] = S::either(v[7], S::both(S::template right<5>(high), mask));
}

// Adds bit v of each byte of `high` to vector v as its fifth bit.
template <class S>
TANDEM_INLINE void addFifthBits(typename S::I high, typename S::I (&v)[8]) {
  const typename S::I mask = S::everyByte(16);
  v[0] = S::either(v[0], S::both(S::template left<4>(high), mask));
  v[1] = S::either(v[1], S::both(S::template left<3>(high), mask));
  v[2] = S::either(v[2], S::both(S::template left<2>(high), mask));
  v[3] = S::either(v[3], S::both(S::template left<1>(high), mask));
  v[4] = S::either(v[4], S::both(high, mask));
  v[5] = S::either(v[5], S::both(S::template right<1>(high), mask));
  v[6] = S::either(v[6], S::both(S::template right<2>(high), mask));
  v[7] = S::either(v[7], S::both(S::template right<3>(high), mask));
}

// p0 * (sum of a row's block over the first half) + p1 * (the second half's), from int16 pairs (p0, p1) a
// lane.
template <class S, class Rows>
TANDEM_INLINE typename S::I sumOfHalves(typename S::I pairs, const Rows& x, int row) {
  return S::timesPairs(pairs, S::everywhere(x.halves(row)));
}

// Starts the sums for weights that are stored c too high: at -c times the sum of the row's block.
template <class S, int c, class Rows, int R>
TANDEM_INLINE void startBelow(const Rows& x, Sums<S, R>& sum) {
  constexpr auto kPair = static_cast<std::int32_t>((-c & 0xFFFFu) * 0x10001u);
  TANDEM_UNROLL
  for (int r = 0; r < R; ++r)
    sum.row[r] = sumOfHalves<S>(S::everywhere(kPair), x, r);
}

// Brings signed bytes into the form that dotSigned wants: with VNNI, 128 too high and without a sign.
template <class S>
TANDEM_INLINE void prepareSigned(typename S::I (&v)[8]) {
#if defined(__AVX512VNNI__)
  TANDEM_UNROLL
  for (int i = 0; i < 8; ++i)
    v[i] = S::add8(v[i], S::everyByte(-128));
#else
  static_cast<void>(v);
#endif
}

// As dotUnsigned for signed bytes from -128 on, prepared. A sum of two products is at most 2 * 128 * 127 =
// 32,512, and is widened at once.
template <class S, class Rows, int R>
TANDEM_INLINE void dotSigned(const typename S::I (&w)[8], const Rows& x, Sums<S, R>& sum, int first = 0,
                             int count = 8) {
#if defined(__AVX512VNNI__)
  if (count == 8) {
    startBelow<S, 128>(x, sum);
  } else {
    TANDEM_UNROLL
    for (int r = 0; r < R; ++r)
      sum.row[r] = S::everywhere(-128 * x.half(r, first / 4));
  }
  dotUnsigned<S, 1>(w, x, sum, first, count);
#else
  TANDEM_UNROLL
  for (int i = first; i < first + count; ++i) {
    const typename S::I magnitude = S::magnitude(w[i]);
    TANDEM_UNROLL
    for (int r = 0; r < R; ++r) {
      const typename S::I activations = S::withSignOf(S::everywhere(x.bytes(r, i)), w[i]);
      sum.row[r] = S::add(sum.row[r], S::widen(S::products(magnitude, activations)));
    }
  }
#endif
}

// The integer sub-scales of a block's two halves, from int16 pairs (s0, s1) a lane, as dotHalves wants them.
template <class S>
struct HalfScales {
  typename S::I pairs, first, second;
  TANDEM_INLINE static HalfScales of(typename S::I pairs) {
#if defined(__AVX512VNNI__)
    return {pairs, S::template arithmeticRight32<16>(S::template left32<16>(pairs)),
            S::template arithmeticRight32<16>(pairs)};
#else
    const typename S::I low = S::both(pairs, S::everywhere(0xFFFF));
    const typename S::I high = S::template right32<16>(pairs);
    return {pairs, S::either(low, S::template left32<16>(low)),
            S::either(high, S::template left32<16>(high))};
#endif
  }
};

// s0 * (sum over the first half of (w - 2^kShift) a) + s1 * (the second half's), exact in int32; kShift 0: of
// w a. kPairs as above.
template <class S, int kPairs, int kShift, class Rows, int R>
TANDEM_INLINE void dotHalves(const typename S::I (&w)[8], const Rows& x, const HalfScales<S>& scales,
                             Sums<S, R>& sum) {
#if defined(__AVX512VNNI__)
  Sums<S, R> second = sum;
  dotUnsigned<S, kPairs>(w, x, sum, 0, 4);
  dotUnsigned<S, kPairs>(w, x, second, 4, 4);
  TANDEM_UNROLL
  for (int r = 0; r < R; ++r)
    sum.row[r] = S::add(S::times32(sum.row[r], scales.first), S::times32(second.row[r], scales.second));
#else
  TANDEM_UNROLL
  for (int r = 0; r < R; ++r) {
    TANDEM_UNROLL
    for (int i = 0; i < 8; i += kPairs) {
      typename S::I pairs = S::products(w[i], S::everywhere(x.bytes(r, i)));
      for (int j = i + 1; j < i + kPairs; ++j)
        pairs = S::addShort(pairs, S::products(w[j], S::everywhere(x.bytes(r, j))));
      sum.row[r] = S::add(sum.row[r], S::timesPairs(pairs, i < 4 ? scales.first : scales.second));
    }
  }
#endif
  if constexpr (kShift > 0) {
    TANDEM_UNROLL
    for (int r = 0; r < R; ++r) {
      const typename S::I offset = sumOfHalves<S>(scales.pairs, x, r);
      sum.row[r] = S::subtract(sum.row[r], S::template left32<kShift>(offset));
    }
  }
}

// Vectors 0 … 7 of a block's nibbles, from 128 bytes a group.
template <class S>
TANDEM_INLINE void unpackNibbles(const typename S::U& u, int at, typename S::I (&v)[8]) {
  const typename S::I low = S::everyByte(15);
  for (int i = 0; i < 4; ++i) {
    const typename S::I bytes = S::bytes(u, at + 32 * i);
    v[i] = S::both(bytes, low);
    v[i + 4] = S::both(S::template right<4>(bytes), low);
  }
}

// The same, each nibble turned into the table's signed byte, prepared for dotSigned.
template <class S>
TANDEM_INLINE void unpackSteps(const typename S::U& u, int at, const std::int8_t (&steps)[16],
                               typename S::I (&v)[8]) {
  unpackNibbles<S>(u, at, v);
  TANDEM_UNROLL
  for (int i = 0; i < 8; ++i)
    v[i] = S::lookUp(steps, v[i]);
  prepareSigned<S>(v);
}

}  // namespace tandem::kernels::TANDEM_SET
