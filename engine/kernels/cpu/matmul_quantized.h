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
#include "engine/kernels/cpu/twice.h"
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

// Adds a block of R rows to their slices.
template <class S, class F, class Rows, int R>
TANDEM_INLINE void addBlock(const Unpacked<S, F>& u, const Rows& x, typename S::F (&slice)[R]) {
  constexpr BlockKind kKind = F::Format::kKind;
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
      slice[r] = fma(S::floats(sum.row[r]), scale * S::everyLane(x.scale(r)), slice[r]);
  };
  Sums<S, R> sum = nothing();
  F::integerSums(u.block, x, sum);
  add(sum, u.scale);
  if constexpr (kKind == BlockKind::kTwoScales) {
    sum = nothing();
    F::secondSums(u.block, x, sum);
    add(sum, u.second);
  }
  if constexpr (kKind == BlockKind::kScaleAndMinimum) {
    TANDEM_UNROLL
    for (int r = 0; r < R; ++r)
      slice[r] = fma(u.minimum, S::everyLane(x.scaledSum(r)), slice[r]);
  }
  if constexpr (kKind == BlockKind::kScaleAndHalfMinima) {
    TANDEM_UNROLL
    for (int r = 0; r < R; ++r)
      sum.row[r] = F::minimumSum(u.block, x, r);
    add(sum, u.minimum);
  }
}

constexpr int kBlocksPerSlice = kSlice / kBlock;

// Walks the blocks of the columns' units. With each block as many bytes of the next columns are asked for, in
// the order of memory, since few rows wait for it.
template <class S, class F>
struct Walk {
  static constexpr int kBlocksPerUnit = F::Format::kElements / kBlock;
  static constexpr int kBlockBytes = S::kGroups * F::Format::kPackedBytes / kBlocksPerUnit;
  Units<S> unit;
  const char* ahead;
  int inUnit = 0;

  // From block `first` on, which begins a unit.
  TANDEM_INLINE Walk(const PackedMatrix& w, int g, int first = 0) {
    const std::size_t at = static_cast<std::size_t>(first) / kBlocksPerUnit * F::Format::kPackedBytes;
    for (int i = 0; i < S::kGroups; ++i)
      unit.group[i] = w.group(g + i) + at;
    ahead = reinterpret_cast<const char*>(w.group(g + S::kGroups)) + S::kGroups * at;
  }
  TANDEM_INLINE void next(Unpacked<S, F>& u) {
    unpack<S, F>(unit, inUnit, u);
    for (int line = 0; line < kBlockBytes; line += 64)
      _mm_prefetch(ahead + line, _MM_HINT_T0);
    ahead += kBlockBytes;
    if (++inUnit < kBlocksPerUnit) return;
    inUnit = 0;
    for (int i = 0; i < S::kGroups; ++i)
      unit.group[i] += F::Format::kPackedBytes;
  }
};

// R rows against the columns of one vector: each block is unpacked once, in registers.
template <class S, class F, int R>
TANDEM_INLINE void fewRows(const PackedMatrix& w, const QuantizedRows& x, int row, int g, float* out,
                           std::size_t outStride) {
  const int blocks = w.k() / kBlock;
  const std::size_t at = static_cast<std::size_t>(row) * blocks;
  BlockRows<R, 0> rows = {x.q + at * kBlock, x.sums + at * 2, x.d + at, x.s + at,
                          static_cast<std::size_t>(x.k)};
  Walk<S, F> walk(w, g);
  typename S::F total[R], slice[R];
  TANDEM_UNROLL
  for (int r = 0; r < R; ++r)
    total[r] = slice[r] = S::nothing();
  for (int b = 0; b < blocks; ++b) {
    Unpacked<S, F> u;
    walk.next(u);
    addBlock<S, F>(u, rows, slice);
    rows = {rows.q + kBlock, rows.sums + 2, rows.d + 1, rows.s + 1, rows.stride};
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

// A slice of kPanelRows rows, R of them side by side in each block.
inline constexpr int kPanelRows = KernelSet::kPanelRows;
template <int R>
struct PackedRows {
  std::int8_t q[kBlocksPerSlice * kPanelRows * kBlock];  // (R rows, block, row, element)
  std::int16_t sums[kBlocksPerSlice * kPanelRows * 2];
  float d[kBlocksPerSlice * kPanelRows];
  float s[kBlocksPerSlice * kPanelRows];

  // Where block b of rows first … first + R - 1 lies, in rows of a block.
  TANDEM_INLINE static std::size_t at(int first, int b) {
    return (static_cast<std::size_t>(first / R) * kBlocksPerSlice + b) * R;
  }
  TANDEM_INLINE void pack(const QuantizedRows& x, int row, int firstBlock, int count) {
    const std::size_t blocks = static_cast<std::size_t>(x.k) / kBlock;
    for (int r = 0; r < kPanelRows; ++r) {
      const std::size_t from = (row + r) * blocks + firstBlock;
      for (int b = 0; b < count; ++b) {
        const std::size_t to = at(r, b) + r % R;
        __builtin_memcpy(q + to * kBlock, x.q + (from + b) * kBlock, kBlock);
        __builtin_memcpy(sums + to * 2, x.sums + (from + b) * 2, 4);
        d[to] = x.d[from + b];
        s[to] = x.s[from + b];
      }
    }
  }
  TANDEM_INLINE BlockRows<R, kBlock> block(int first, int b) const {
    const std::size_t i = at(first, b);
    return {q + i * kBlock, sums + i * 2, d + i, s + i};
  }
};

// A slice of kPanelRows rows against the columns of one vector: its blocks are unpacked once, into a panel
// that all rows read. The totals so far are in `out`, but for the first slice.
template <class S, class F, int R>
TANDEM_INLINE void sliceOfRows(const PackedMatrix& w, const PackedRows<R>& rows, int firstBlock, int count,
                               int row, int g, float* out, std::size_t outStride) {
  Walk<S, F> walk(w, g, firstBlock);
  Unpacked<S, F> panel[kBlocksPerSlice];
  for (int b = 0; b < count; ++b)
    walk.next(panel[b]);
  const int columns = w.n() - g * kGroup;
  for (int r = 0; r < kPanelRows; r += R) {
    typename S::F slice[R];
    TANDEM_UNROLL
    for (int i = 0; i < R; ++i)
      slice[i] = S::nothing();
    for (int b = 0; b < count; ++b)
      addBlock<S, F>(panel[b], rows.block(r, b), slice);
    TANDEM_UNROLL
    for (int i = 0; i < R; ++i) {
      float* to = out + (row + r + i) * outStride + g * kGroup;
      S::write(to, (firstBlock > 0 ? S::read(to, columns) : S::nothing()) + slice[i], columns);
    }
  }
}

// kPanelRows rows against all columns, slice by slice.
template <template <class S> class F, int R>
TANDEM_INLINE void manyRows(const PackedMatrix& w, const QuantizedRows& x, int row, int groupBegin,
                            int groupEnd, float* out, std::size_t outStride) {
  const int blocks = w.k() / kBlock;
  PackedRows<R> rows;
  for (int first = 0; first < blocks; first += kBlocksPerSlice) {
    const int count = blocks - first < kBlocksPerSlice ? blocks - first : kBlocksPerSlice;
    rows.pack(x, row, first, count);
    int g = groupBegin;
#ifdef __AVX512BW__
    for (; g + 4 <= groupEnd; g += 4)
      sliceOfRows<Twice<Wide>, F<Twice<Wide>>, R>(w, rows, first, count, row, g, out, outStride);
#endif
    for (; g < groupEnd; ++g)
      sliceOfRows<Narrow, F<Narrow>, R>(w, rows, first, count, row, g, out, outStride);
  }
}

// Rows row … rows - 1, fewer than kPanelRows: R at a time, and then all that are left.
template <class S, class F, int R>
TANDEM_INLINE void restOfRows(const PackedMatrix& w, const QuantizedRows& x, int row, int rows, int g,
                              float* out, std::size_t outStride) {
  for (; row + R <= rows; row += R)
    fewRows<S, F, R>(w, x, row, g, out, outStride);
  if constexpr (R > 1) {
    if (row < rows) restOfRows<S, F, R - 1>(w, x, row, rows, g, out, outStride);
  }
}

template <template <class S> class F>
TANDEM_INLINE void matmul(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin,
                          int groupEnd, float* out, std::size_t outStride) {
#ifdef __AVX512BW__
  constexpr int R = 8;
#else
  constexpr int R = 4;
#endif
  int row = 0;
  for (; row + kPanelRows <= rows; row += kPanelRows)
    manyRows<F, R>(w, x, row, groupBegin, groupEnd, out, outStride);
  int g = groupBegin;
#ifdef __AVX512BW__
  for (; g + 4 <= groupEnd; g += 4)
    restOfRows<Twice<Wide>, F<Twice<Wide>>, R>(w, x, row, rows, g, out, outStride);
#endif
  for (; g < groupEnd; ++g)
    restOfRows<Narrow, F<Narrow>, R>(w, x, row, rows, g, out, outStride);
}

}  // namespace tandem::kernels::TANDEM_SET
