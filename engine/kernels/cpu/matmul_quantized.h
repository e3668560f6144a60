// The tile that every quantised format shares: R rows against the groups of one vector (rule 2 of
// docs/arithmetic.md).
//
// A kernel is a template over the vector unit S that gives: Format (of quant/), Block (a block's integers,
// unpacked once for all rows), load(), integerSums() (the block's exact int32 sums of some rows), scale()
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

// A block of every column at hand, ready to be multiplied.
template <class S, class F>
struct Unpacked {
  typename F::Block block;
  typename S::F scale, second, minimum;  // the last two as the format's BlockKind needs them
};

template <class S, class F>
TANDEM_INLINE void unpack(const Units<S>& unit, int inUnit, Unpacked<S, F>& u) {
  constexpr BlockKind kKind = F::Format::kKind;
  u.block = F::load(unit, inUnit);
  u.scale = F::scale(unit, inUnit);
  if constexpr (kKind == BlockKind::kTwoScales) u.second = F::secondScale(unit, inUnit);
  if constexpr (kKind == BlockKind::kScaleAndMinimum || kKind == BlockKind::kScaleAndHalfMinima)
    u.minimum = F::minimum(unit, inUnit);
}

// Adds block b of rows row … row + R - 1 to their slices.
template <class S, class F, int R>
TANDEM_INLINE void addBlock(const Unpacked<S, F>& u, const QuantizedRows& x, int row, int b,
                            typename S::F (&slice)[R]) {
  constexpr BlockKind kKind = F::Format::kKind;
  const std::size_t blocks = static_cast<std::size_t>(x.k) / kBlock, first = row * blocks + b;
  const BlockRows<R> at = {x.q + first * kBlock, x.sums + first * 2, static_cast<std::size_t>(x.k)};
  const float* d = x.d + first;
  const auto nothing = [] {
    Sums<S, R> sum;
    TANDEM_UNROLL
    for (int r = 0; r < R; ++r)
      sum.row[r] = S::none();
    return sum;
  };
  const auto add = [&](const Sums<S, R>& sum, typename S::F scale) {
    TANDEM_UNROLL
    for (int r = 0; r < R; ++r)
      slice[r] = fma(S::floats(sum.row[r]), scale * S::everyLane(d[r * blocks]), slice[r]);
  };
  Sums<S, R> sum = nothing();
  F::integerSums(u.block, at, sum);
  add(sum, u.scale);
  if constexpr (kKind == BlockKind::kTwoScales) {
    sum = nothing();
    F::secondSums(u.block, at, sum);
    add(sum, u.second);
  }
  if constexpr (kKind == BlockKind::kScaleAndMinimum) {
    TANDEM_UNROLL
    for (int r = 0; r < R; ++r)
      slice[r] = fma(u.minimum, S::everyLane(x.s[first + r * blocks]), slice[r]);
  }
  if constexpr (kKind == BlockKind::kScaleAndHalfMinima) {
    TANDEM_UNROLL
    for (int r = 0; r < R; ++r)
      sum.row[r] = F::minimumSum(u.block, at, r);
    add(sum, u.minimum);
  }
}

constexpr int kBlocksPerSlice = kSlice / kBlock;

// Walks the blocks of the columns' units.
template <class S, class F>
struct Walk {
  static constexpr int kBlocksPerUnit = F::Format::kElements / kBlock;
  Units<S> unit;
  int inUnit = 0;

  TANDEM_INLINE Walk(const PackedMatrix& w, int g) {
    for (int i = 0; i < S::kGroups; ++i)
      unit.group[i] = w.group(g + i);
  }
  TANDEM_INLINE void next(Unpacked<S, F>& u) {
    unpack<S, F>(unit, inUnit, u);
    if (++inUnit < kBlocksPerUnit) return;
    inUnit = 0;
    for (int i = 0; i < S::kGroups; ++i) {
      // Few rows wait for memory: what comes half a page later is asked for now.
      for (int line = 0; line < F::Format::kPackedBytes; line += 64)
        _mm_prefetch(reinterpret_cast<const char*>(unit.group[i]) + kAhead + line, _MM_HINT_T0);
      unit.group[i] += F::Format::kPackedBytes;
    }
  }
  static constexpr int kAhead = 2048;
};

// R rows against the columns of one vector: each block is unpacked once, in registers.
template <class S, class F, int R>
TANDEM_INLINE void fewRows(const PackedMatrix& w, const QuantizedRows& x, int row, int g, float* out,
                           std::size_t outStride) {
  const int blocks = w.k() / kBlock;
  Walk<S, F> walk(w, g);
  typename S::F total[R], slice[R];
  TANDEM_UNROLL
  for (int r = 0; r < R; ++r)
    total[r] = slice[r] = S::nothing();
  for (int b = 0; b < blocks; ++b) {
    Unpacked<S, F> u;
    walk.next(u);
    addBlock<S, F, R>(u, x, row, b, slice);
    if ((b + 1) % kBlocksPerSlice == 0 || b + 1 == blocks) {
      TANDEM_UNROLL
      for (int r = 0; r < R; ++r) {
        total[r] = total[r] + slice[r];
        slice[r] = S::nothing();
      }
    }
  }
  TANDEM_UNROLL
  for (int r = 0; r < R; ++r)
    S::write(out + (row + r) * outStride + g * kGroup, total[r], w.n() - g * kGroup);
}

// kPanelRows rows against the columns of one vector: a slice's blocks are unpacked once, into a panel that
// all rows read.
inline constexpr int kPanelRows = 32;
template <class S, class F, int R>
TANDEM_INLINE void manyRows(const PackedMatrix& w, const QuantizedRows& x, int row, int g, float* out,
                            std::size_t outStride) {
  const int blocks = w.k() / kBlock;
  Walk<S, F> walk(w, g);
  Unpacked<S, F> panel[kBlocksPerSlice];
  typename S::F total[kPanelRows];
  for (int r = 0; r < kPanelRows; ++r)
    total[r] = S::nothing();
  for (int first = 0; first < blocks; first += kBlocksPerSlice) {
    const int count = blocks - first < kBlocksPerSlice ? blocks - first : kBlocksPerSlice;
    for (int b = 0; b < count; ++b)
      walk.next(panel[b]);
    for (int r = 0; r < kPanelRows; r += R) {
      typename S::F slice[R];
      TANDEM_UNROLL
      for (int i = 0; i < R; ++i)
        slice[i] = S::nothing();
      for (int b = 0; b < count; ++b)
        addBlock<S, F, R>(panel[b], x, row + r, first + b, slice);
      TANDEM_UNROLL
      for (int i = 0; i < R; ++i)
        total[r + i] = total[r + i] + slice[i];
    }
  }
  for (int r = 0; r < kPanelRows; ++r)
    S::write(out + (row + r) * outStride + g * kGroup, total[r], w.n() - g * kGroup);
}

// Rows row … rows - 1, fewer than kPanelRows, R at a time.
template <class S, class F, int R>
TANDEM_INLINE void restOfRows(const PackedMatrix& w, const QuantizedRows& x, int row, int rows, int g,
                              float* out, std::size_t outStride) {
  for (; row + R <= rows; row += R)
    fewRows<S, F, R>(w, x, row, g, out, outStride);
  if constexpr (R > 1) restOfRows<S, F, R / 2>(w, x, row, rows, g, out, outStride);
}

template <class S, class F, int R>
TANDEM_INLINE void columns(const PackedMatrix& w, const QuantizedRows& x, int row, int rows, int g,
                           float* out, std::size_t outStride) {
  if (rows - row >= kPanelRows) {
    manyRows<S, F, R>(w, x, row, g, out, outStride);
  } else {
    restOfRows<S, F, R>(w, x, row, rows, g, out, outStride);
  }
}

// Rows in blocks that stay in the cache while all columns pass.
template <template <class S> class F>
TANDEM_INLINE void matmul(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin,
                          int groupEnd, float* out, std::size_t outStride) {
  for (int row = 0; row < rows; row += kPanelRows) {
    int g = groupBegin;
#ifdef __AVX512BW__
    for (; g + 2 <= groupEnd; g += 2)
      columns<Wide, F<Wide>, 8>(w, x, row, rows, g, out, outStride);
    if (g < groupEnd) columns<Narrow, F<Narrow>, 8>(w, x, row, rows, g, out, outStride);
#else
    for (; g < groupEnd; ++g)
      columns<Narrow, F<Narrow>, 4>(w, x, row, rows, g, out, outStride);
#endif
  }
}

}  // namespace tandem::kernels::TANDEM_SET
