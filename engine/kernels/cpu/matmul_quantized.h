// The tile that every quantised format shares: R rows against the groups of one vector (rule 2 of
// docs/arithmetic.md).
//
// A kernel is a template over the vector unit S that gives: Format (of quant/), Block (a block's integers,
// unpacked once for all rows), load(), integerSum() (the block's exact int32 sums of one row), scale()
// (fp32), and what the format's BlockKind asks for besides. The bounds of its int16 sums are proven in its
// own file.
#pragma once

#include "engine/kernels/arithmetic.h"
#include "engine/kernels/cpu/cpu_kernels.h"
#include "engine/kernels/cpu/simd.h"
#include "engine/kernels/quant/packed_block.h"

namespace tandem::kernels::TANDEM_SET {

// What most kernels have: a block of eight vectors, and F16 scales (and minima) beside the unit's integers.
template <class S, class F>
struct KernelBase {
  using Format = F;
  struct Block {
    typename S::I v[8];
  };
  TANDEM_INLINE static typename S::F scale(const Units<S>& u, int) { return S::halves(u, F::kScaleAt); }
  TANDEM_INLINE static typename S::F minimum(const Units<S>& u, int) { return S::halves(u, F::kMinimumAt); }
};

template <class S, class F, int R>
TANDEM_INLINE void tile(const PackedMatrix& w, const QuantizedRows& x, int row, int g, float* out,
                        std::size_t outStride) {
  const int blocks = w.k() / kBlock;
  const std::int8_t* a = x.q + static_cast<std::size_t>(row) * w.k();
  const float* d = x.d + static_cast<std::size_t>(row) * blocks;
  const float* s = x.s + static_cast<std::size_t>(row) * blocks;
  const std::int16_t* sums = x.sums + static_cast<std::size_t>(row) * blocks * 2;
  Units<S> unit;
  for (int i = 0; i < S::kGroups; ++i)
    unit.group[i] = w.group(g + i);
  typename S::F total[R], slice[R];
  for (int r = 0; r < R; ++r)
    total[r] = slice[r] = S::nothing();

  constexpr int kBlocksPerUnit = F::Format::kElements / kBlock;
  constexpr BlockKind kKind = F::Format::kKind;
  for (int b = 0; b < blocks; ++b) {
    const int inUnit = b % kBlocksPerUnit;
    const typename F::Block v = F::load(unit, inUnit);
    const typename S::F scale = F::scale(unit, inUnit);
    for (int r = 0; r < R; ++r) {
      const std::size_t at = static_cast<std::size_t>(r) * blocks + b;
      const typename S::F sum = S::floats(F::integerSum(v, a + at * kBlock, sums + at * 2));
      slice[r] = fma(sum, scale * S::everyLane(d[at]), slice[r]);
    }
    if constexpr (kKind == BlockKind::kTwoScales) {
      const typename S::F second = F::secondScale(unit, inUnit);
      for (int r = 0; r < R; ++r) {
        const std::size_t at = static_cast<std::size_t>(r) * blocks + b;
        const typename S::F sum = S::floats(F::secondSum(v, a + at * kBlock, sums + at * 2));
        slice[r] = fma(sum, second * S::everyLane(d[at]), slice[r]);
      }
    }
    if constexpr (kKind == BlockKind::kScaleAndMinimum) {
      const typename S::F minimum = F::minimum(unit, inUnit);
      for (int r = 0; r < R; ++r)
        slice[r] = fma(minimum, S::everyLane(s[static_cast<std::size_t>(r) * blocks + b]), slice[r]);
    }
    if constexpr (kKind == BlockKind::kScaleAndHalfMinima) {
      const typename S::F minimum = F::minimum(unit, inUnit);
      for (int r = 0; r < R; ++r) {
        const std::size_t at = static_cast<std::size_t>(r) * blocks + b;
        const typename S::F sum = S::floats(F::minimumSum(v, sums + at * 2));
        slice[r] = fma(sum, minimum * S::everyLane(d[at]), slice[r]);
      }
    }
    if ((b + 1) % (kSlice / kBlock) == 0 || b + 1 == blocks) {
      for (int r = 0; r < R; ++r) {
        total[r] = total[r] + slice[r];
        slice[r] = S::nothing();
      }
    }
    if (inUnit + 1 == kBlocksPerUnit) {
      for (int i = 0; i < S::kGroups; ++i)
        unit.group[i] += F::Format::kPackedBytes;
    }
  }
  for (int r = 0; r < R; ++r)
    S::write(out + (row + r) * outStride + g * kGroup, total[r], w.n() - g * kGroup);
}

// All rows against the groups of one vector, R at a time.
template <class S, class F, int R>
TANDEM_INLINE void columns(const PackedMatrix& w, const QuantizedRows& x, int rows, int g, float* out,
                           std::size_t outStride) {
  int r = 0;
  for (; r + R <= rows; r += R)
    tile<S, F, R>(w, x, r, g, out, outStride);
  if constexpr (R > 4) {
    if (rows - r >= 4) {
      tile<S, F, 4>(w, x, r, g, out, outStride);
      r += 4;
    }
  }
  switch (rows - r) {
    case 3:
      tile<S, F, 3>(w, x, r, g, out, outStride);
      break;
    case 2:
      tile<S, F, 2>(w, x, r, g, out, outStride);
      break;
    case 1:
      tile<S, F, 1>(w, x, r, g, out, outStride);
      break;
    default:
      break;
  }
}

template <template <class S> class F>
TANDEM_INLINE void matmul(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin,
                          int groupEnd, float* out, std::size_t outStride) {
  int g = groupBegin;
#ifdef __AVX512BW__
  for (; g + 2 <= groupEnd; g += 2)
    columns<Wide, F<Wide>, 8>(w, x, rows, g, out, outStride);
  if (g < groupEnd) columns<Narrow, F<Narrow>, 8>(w, x, rows, g, out, outStride);
#else
  for (; g < groupEnd; ++g)
    columns<Narrow, F<Narrow>, 4>(w, x, rows, g, out, outStride);
#endif
}

}  // namespace tandem::kernels::TANDEM_SET
