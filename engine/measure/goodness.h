// Whether draws follow a distribution: chi-square and Kolmogorov-Smirnov tests. Pure functions; any thread.
//
// A p-value is the probability that true draws would fit as badly or worse: uniform between 0 and 1 when the
// draws are true, near 0 when they are not.
#pragma once

#include <cstdint>
#include <span>

namespace tandem::measure {

struct Fit {
  double statistic = 0;
  int degrees = 0;  // of freedom; 0: there was nothing to compare
  double p = 1;
};

// Probability that chi-square of so many degrees of freedom is above `statistic`: the regularised upper
// incomplete gamma function Q(degrees / 2, statistic / 2), by its series or its continued fraction.
double chiSquareTail(double statistic, int degrees);

// Counts against probabilities, cell by cell. Cells that expect fewer than five draws are joined, the rarest
// first. A count where the probability is 0 gives p = 0. REQUIRES: as many counts as probabilities, which sum
// to 1.
Fit chiSquare(std::span<const std::int64_t> counts, std::span<const double> probabilities);

// Two samples of counts against each other: whether both come from one distribution, whichever it is. Cells
// with fewer than ten draws in both together are joined; a rest of fewer is left out.
Fit chiSquareOfTwo(std::span<const std::int64_t> a, std::span<const std::int64_t> b);

// Whether numbers between 0 and 1 are uniform: Kolmogorov and Smirnov's test, p by Stephens' approximation of
// the limit.
Fit uniformity(std::span<const double> values);

}  // namespace tandem::measure
