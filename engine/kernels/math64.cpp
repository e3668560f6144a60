#include "engine/kernels/math64.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tandem::kernels {
namespace {

constexpr double kLn2High = 0x1.62e42fefa38p-1;   // 43 bits of ln 2: n times it is exact for |n| < 2^10
constexpr double kLn2Low = 0x1.ef35793c7673p-45;  // the rest

double powerOfTwo(int n) {  // n in -1022 … 1023
  return std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52);
}

// Sum of c[0] + c[1] x + … by Horner.
template <int N>
double polynomial(const double (&c)[N], double x) {
  double sum = c[N - 1];
  for (int i = N - 2; i >= 0; --i)
    sum = std::fma(sum, x, c[i]);
  return sum;
}

}  // namespace

double exp64(double x) {
  if (!(x > -746.0)) return x != x ? x : 0.0;
  if (x > 709.79) return std::numeric_limits<double>::infinity();
  const double n = std::nearbyint(x * 0x1.71547652b82fep0);
  const double r = std::fma(n, -kLn2Low, std::fma(n, -kLn2High, x));
  // Taylor: |r| <= 0.3466, r^15 / 15! < 1e-19.
  static constexpr double c[] = {1.0,
                                 1.0,
                                 1.0 / 2,
                                 1.0 / 6,
                                 1.0 / 24,
                                 1.0 / 120,
                                 1.0 / 720,
                                 1.0 / 5040,
                                 1.0 / 40320,
                                 1.0 / 362880,
                                 1.0 / 3628800,
                                 1.0 / 39916800,
                                 1.0 / 479001600,
                                 1.0 / 6227020800,
                                 1.0 / 87178291200};
  const double p = polynomial(c, r);
  const int half = static_cast<int>(n) / 2;
  return (p * powerOfTwo(half)) * powerOfTwo(static_cast<int>(n) - half);
}

double log64(double x) {
  // x = 2^n m with m in [sqrt(1/2), sqrt 2); log m = 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.1716.
  const auto bits = std::bit_cast<std::uint64_t>(x);
  int n = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xFFFFFFFFFFFFFull) | 0x3FF0000000000000ull);
  if (m > 0x1.6a09e667f3bcdp0) {
    m *= 0.5;
    ++n;
  }
  const double s = (m - 1.0) / (m + 1.0);
  const double square = s * s;
  // 2 (s^3 / 3 + s^5 / 5 + …) up to s^23: the next term is below 1e-19 of s.
  static constexpr double c[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11, 2.0 / 13,
                                 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23};
  const double tail = s * (square * polynomial(c, square));
  const double exponent = static_cast<double>(n);
  return std::fma(exponent, kLn2High, std::fma(exponent, kLn2Low, tail) + (s + s));
}

void sinCos64(double x, double* sine, double* cosine) {
  // x = n pi/2 + r, pi/2 in three parts, the first two with 33 bits each so that n times them is exact.
  const double n = std::nearbyint(x * 0x1.45f306dc9c883p-1);
  double r = std::fma(n, -0x1.921fb544p0, x);
  r = std::fma(n, -0x1.0b4611a6p-34, r);
  r = std::fma(n, -0x1.3198a2e037073p-69, r);
  const double square = r * r;
  // Taylor: |r| <= 0.7854, the next terms are below 1e-19.
  static constexpr double s[] = {
      -1.0 / 6,        1.0 / 120,        -1.0 / 5040,          1.0 / 362880,
      -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000};
  static constexpr double c[] = {-1.0 / 2,
                                 1.0 / 24,
                                 -1.0 / 720,
                                 1.0 / 40320,
                                 -1.0 / 3628800,
                                 1.0 / 479001600,
                                 -1.0 / 87178291200,
                                 1.0 / 20922789888000,
                                 -1.0 / 6402373705728000};
  const double sinR = std::fma(r * square, polynomial(s, square), r);
  const double cosR = std::fma(square, polynomial(c, square), 1.0);
  switch (static_cast<std::int64_t>(n) & 3) {
    case 0:
      *sine = sinR, *cosine = cosR;
      break;
    case 1:
      *sine = cosR, *cosine = -sinR;
      break;
    case 2:
      *sine = -sinR, *cosine = -cosR;
      break;
    default:
      *sine = -cosR, *cosine = sinR;
      break;
  }
}

}  // namespace tandem::kernels
