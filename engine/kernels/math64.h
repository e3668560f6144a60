// exp, log, sin and cos in double, as explicit fma polynomials: the same bits on every CPU (libm's differ).
// Used for tables (RoPE) and by the sampler, where speed does not matter but reproducibility does. Errors
// stay below 2 ulp in the ranges given.
#pragma once

namespace tandem::kernels {

// e^x for x in -745 … 709; 0 below, infinity above, NaN stays NaN.
double exp64(double x);

// Natural logarithm of a positive normal x. REQUIRES: x >= 2^-1022 and finite.
double log64(double x);

// sin and cos of an angle in radians. REQUIRES: |x| < 2^30.
void sinCos64(double x, double* sine, double* cosine);

}  // namespace tandem::kernels
