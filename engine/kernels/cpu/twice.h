// Two vectors of columns side by side: a unit as simd.h's, twice as wide. Each word of activations that is
// read serves both, so that many rows wait less for loads. With 32 registers only. Only for files of this
// folder.
#pragma once

#include "engine/kernels/cpu/simd.h"

#ifdef __AVX512BW__
namespace tandem::kernels::TANDEM_SET {

template <class S>
struct TwiceFloats {
  typename S::F a, b;
};
template <class S>
TANDEM_INLINE TwiceFloats<S> operator+(TwiceFloats<S> x, TwiceFloats<S> y) {
  return {x.a + y.a, x.b + y.b};
}
template <class S>
TANDEM_INLINE TwiceFloats<S> operator*(TwiceFloats<S> x, TwiceFloats<S> y) {
  return {x.a * y.a, x.b * y.b};
}
template <class S>
TANDEM_INLINE TwiceFloats<S> fma(TwiceFloats<S> x, TwiceFloats<S> y, TwiceFloats<S> z) {
  return {fma(x.a, y.a, z.a), fma(x.b, y.b, z.b)};
}

template <class S>
struct Twice {
  static constexpr int kGroups = 2 * S::kGroups;
  struct I {
    typename S::I a, b;
  };
  using F = TwiceFloats<S>;
  using U = Units<Twice>;

  TANDEM_INLINE static Units<S> half(const U& u, int h) {
    Units<S> part;
    for (int i = 0; i < S::kGroups; ++i)
      part.group[i] = u.group[h * S::kGroups + i];
    return part;
  }
  TANDEM_INLINE static I bytes(const U& u, int at) {
    return {S::bytes(half(u, 0), at), S::bytes(half(u, 1), at)};
  }
  TANDEM_INLINE static F halves(const U& u, int at) {
    return {S::halves(half(u, 0), at), S::halves(half(u, 1), at)};
  }
  TANDEM_INLINE static F byteValues(const U& u, int at) {
    return {S::byteValues(half(u, 0), at), S::byteValues(half(u, 1), at)};
  }
  TANDEM_INLINE static F signedByteValues(const U& u, int at) {
    return {S::signedByteValues(half(u, 0), at), S::signedByteValues(half(u, 1), at)};
  }
  TANDEM_INLINE static F singles(const U& u, int at) {
    return {S::singles(half(u, 0), at), S::singles(half(u, 1), at)};
  }
  TANDEM_INLINE static I bytePairs(const U& u, int at) {
    return {S::bytePairs(half(u, 0), at), S::bytePairs(half(u, 1), at)};
  }
  TANDEM_INLINE static I everywhere(std::int32_t x) { return {S::everywhere(x), S::everywhere(x)}; }
  TANDEM_INLINE static I everyByte(int x) { return {S::everyByte(x), S::everyByte(x)}; }
  TANDEM_INLINE static I none() { return {S::none(), S::none()}; }
  TANDEM_INLINE static I both(I x, I y) { return {S::both(x.a, y.a), S::both(x.b, y.b)}; }
  TANDEM_INLINE static I either(I x, I y) { return {S::either(x.a, y.a), S::either(x.b, y.b)}; }
  TANDEM_INLINE static I add(I x, I y) { return {S::add(x.a, y.a), S::add(x.b, y.b)}; }
  TANDEM_INLINE static I subtract(I x, I y) { return {S::subtract(x.a, y.a), S::subtract(x.b, y.b)}; }
  TANDEM_INLINE static I add8(I x, I y) { return {S::add8(x.a, y.a), S::add8(x.b, y.b)}; }
  TANDEM_INLINE static I times32(I x, I y) { return {S::times32(x.a, y.a), S::times32(x.b, y.b)}; }
  template <int n>
  TANDEM_INLINE static I left32(I x) {
    return {S::template left32<n>(x.a), S::template left32<n>(x.b)};
  }
  template <int n>
  TANDEM_INLINE static I right32(I x) {
    return {S::template right32<n>(x.a), S::template right32<n>(x.b)};
  }
  template <int n>
  TANDEM_INLINE static I arithmeticRight32(I x) {
    return {S::template arithmeticRight32<n>(x.a), S::template arithmeticRight32<n>(x.b)};
  }
  template <int n>
  TANDEM_INLINE static I left(I x) {
    return {S::template left<n>(x.a), S::template left<n>(x.b)};
  }
  template <int n>
  TANDEM_INLINE static I right(I x) {
    return {S::template right<n>(x.a), S::template right<n>(x.b)};
  }
  TANDEM_INLINE static I timesPairs(I x, I y) { return {S::timesPairs(x.a, y.a), S::timesPairs(x.b, y.b)}; }
  TANDEM_INLINE static I lookUp(const std::int8_t (&values)[16], I indices) {
    return {S::lookUp(values, indices.a), S::lookUp(values, indices.b)};
  }
  TANDEM_INLINE static F floats(I x) { return {S::floats(x.a), S::floats(x.b)}; }
  TANDEM_INLINE static F everyLane(float x) { return {S::everyLane(x), S::everyLane(x)}; }
  TANDEM_INLINE static F nothing() { return {S::nothing(), S::nothing()}; }
  TANDEM_INLINE static F negative(F x) { return {S::negative(x.a), S::negative(x.b)}; }
  TANDEM_INLINE static F read(const float* p, int columns) {
    return {S::read(p, columns), S::read(p + S::kGroups * kGroup, columns - S::kGroups * kGroup)};
  }
  TANDEM_INLINE static void write(float* out, F x, int columns) {
    S::write(out, x.a, columns);
    S::write(out + S::kGroups * kGroup, x.b, columns - S::kGroups * kGroup);
  }
#ifdef __AVX512VNNI__
  TANDEM_INLINE static I dot(I sum, I w, I x) {
    return {S::dot(sum.a, w.a, x.a), S::dot(sum.b, w.b, x.b)};
  }
#else
  TANDEM_INLINE static I products(I w, I x) {
    return {S::products(w.a, x.a), S::products(w.b, x.b)};
  }
  TANDEM_INLINE static I addShort(I x, I y) {
    return {S::addShort(x.a, y.a), S::addShort(x.b, y.b)};
  }
  TANDEM_INLINE static I widen(I pairs) {
    return {S::widen(pairs.a), S::widen(pairs.b)};
  }
  TANDEM_INLINE static I magnitude(I w) {
    return {S::magnitude(w.a), S::magnitude(w.b)};
  }
  TANDEM_INLINE static I withSignOf(I x, I w) {
    return {S::withSignOf(x.a, w.a), S::withSignOf(x.b, w.b)};
  }
#endif
};

}  // namespace tandem::kernels::TANDEM_SET
#endif
