#include "engine/measure/goodness.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace tandem::measure {
namespace {

constexpr int kMostTerms = 100000;
constexpr double kEpsilon = 1e-15;

// P(a, x) by its series, for x < a + 1.
double gammaBelow(double a, double x) {
  double term = 1 / a, sum = term;
  for (int n = 1; n < kMostTerms && term > sum * kEpsilon; ++n) {
    term *= x / (a + n);
    sum += term;
  }
  return sum * std::exp(a * std::log(x) - x - std::lgamma(a));
}

// Q(a, x) by Lentz's continued fraction, for x >= a + 1.
double gammaAbove(double a, double x) {
  constexpr double kTiny = 1e-300;
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, h = d;
  for (int i = 1; i < kMostTerms; ++i) {
    const double an = -i * (i - a);
    b += 2;
    d = 1 / std::max(std::fabs(an * d + b), kTiny) * (an * d + b < 0 ? -1 : 1);
    c = b + an / c;
    const double change = d * c;
    h *= change;
    if (std::fabs(change - 1) < kEpsilon) break;
  }
  return h * std::exp(a * std::log(x) - x - std::lgamma(a));
}

// Indices of the cells, those of the least weight first.
template <class Weight>
std::vector<std::size_t> byWeight(std::size_t cells, const Weight& weight) {
  std::vector<std::size_t> order(cells);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return weight(a) < weight(b); });
  return order;
}

Fit judged(double statistic, int cells) {
  if (cells < 2) return {};
  return {statistic, cells - 1, chiSquareTail(statistic, cells - 1)};
}

}  // namespace

double chiSquareTail(double statistic, int degrees) {
  const double a = degrees / 2.0, x = statistic / 2;
  if (x <= 0) return 1;
  return x < a + 1 ? 1 - gammaBelow(a, x) : gammaAbove(a, x);
}

Fit chiSquare(std::span<const std::int64_t> counts, std::span<const double> probabilities) {
  const double draws = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  double statistic = 0, expected = 0, seen = 0, lastExpected = 0, lastSeen = 0;
  int cells = 0;
  const auto close = [&] {
    statistic += (seen - expected) * (seen - expected) / expected;
    ++cells;
    lastExpected = expected;
    lastSeen = seen;
    expected = seen = 0;
  };
  for (const std::size_t i : byWeight(counts.size(), [&](std::size_t c) { return probabilities[c]; })) {
    if (probabilities[i] <= 0) {
      if (counts[i] > 0) return {std::numeric_limits<double>::infinity(), 1, 0};
      continue;
    }
    expected += probabilities[i] * draws;
    seen += static_cast<double>(counts[i]);
    if (expected >= 5) close();
  }
  if (expected > 0 && cells > 0) {  // what is left over goes to the last cell
    statistic -= (lastSeen - lastExpected) * (lastSeen - lastExpected) / lastExpected;
    --cells;
    expected += lastExpected;
    seen += lastSeen;
    close();
  }
  return judged(statistic, cells);
}

Fit chiSquareOfTwo(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  const double drawsA = static_cast<double>(std::accumulate(a.begin(), a.end(), std::int64_t{0}));
  const double drawsB = static_cast<double>(std::accumulate(b.begin(), b.end(), std::int64_t{0}));
  double statistic = 0, inA = 0, inB = 0;
  int cells = 0;
  const auto close = [&] {
    const double difference = inA * std::sqrt(drawsB / drawsA) - inB * std::sqrt(drawsA / drawsB);
    statistic += difference * difference / (inA + inB);
    ++cells;
    inA = inB = 0;
  };
  for (const std::size_t i : byWeight(a.size(), [&](std::size_t c) { return a[c] + b[c]; })) {
    inA += static_cast<double>(a[i]);
    inB += static_cast<double>(b[i]);
    if (inA + inB >= 10) close();
  }
  return judged(statistic, cells);
}

Fit uniformity(std::span<const double> values) {
  if (values.empty()) return {};
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double n = static_cast<double>(sorted.size());
  double distance = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double below = static_cast<double>(i) / n, above = static_cast<double>(i + 1) / n;
    distance = std::max({distance, sorted[i] - below, above - sorted[i]});
  }
  const double root = std::sqrt(n), lambda = (root + 0.12 + 0.11 / root) * distance;
  double p = 0;
  for (int k = 1; k <= 100; ++k)
    p += (k % 2 == 1 ? 2 : -2) * std::exp(-2.0 * k * k * lambda * lambda);
  return {distance, static_cast<int>(sorted.size()), lambda < 0.2 ? 1.0 : std::clamp(p, 0.0, 1.0)};
}

}  // namespace tandem::measure
