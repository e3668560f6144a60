// The constants of the arithmetic contract (docs/arithmetic.md). Every kernel set obeys them; changing one
// changes the bits of every answer and raises kArithmeticVersion.
#pragma once

namespace tandem::kernels {

inline constexpr int kArithmeticVersion = 1;

// Lanes of every lane-wise sum (norms, q·k, softmax sums). Lane of an element = its index mod kLanes; the
// lanes fold as
// ((l0+l4)+(l2+l6)) + ((l1+l5)+(l3+l7)).
inline constexpr int kLanes = 8;

// Columns of a weight that are interleaved: a SIMD lane holds a column.
inline constexpr int kGroup = 8;

// Elements that share one int8 scale of a quantised activation, and of a quantised product's block.
inline constexpr int kBlock = 32;

// Elements of K whose sum is closed before it is added to the column's total.
inline constexpr int kSlice = 512;

// Keys of one attention tile; tiles start at absolute position 0. Also the positions of a cache page.
inline constexpr int kTile = 64;

// Rounds n up to a multiple of m.
constexpr int roundUp(int n, int m) {
  return (n + m - 1) / m * m;
}

}  // namespace tandem::kernels
