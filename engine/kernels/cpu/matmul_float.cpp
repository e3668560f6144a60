// F32, F16 and BF16 weights with fp32 activations: a lane is a column, its sum runs along K by fma in slices.
#include "engine/kernels/arithmetic.h"
#include "engine/kernels/cpu/cpu_kernels.h"
#include "engine/kernels/cpu/f8.h"
#include "engine/kernels/quant/float_weights.h"

namespace tandem::kernels::TANDEM_SET {
namespace {

TANDEM_INLINE F8 loadColumns(const std::uint8_t* unit, F32) {
  return load(reinterpret_cast<const float*>(unit));
}
TANDEM_INLINE F8 loadColumns(const std::uint8_t* unit, F16) {
  return load(reinterpret_cast<const std::uint16_t*>(unit));
}
TANDEM_INLINE F8 loadColumns(const std::uint8_t* unit, BF16) {
  const __m256i halves = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(unit)));
  return {_mm256_castsi256_ps(_mm256_slli_epi32(halves, 16))};
}

// R rows against the G groups that start at g. Several groups hide the latency of the one chain that each
// needs.
template <class F, int R, int G>
TANDEM_INLINE void tile(const PackedMatrix& w, const float* x, int row, int g, float* out,
                        std::size_t outStride) {
  const int k = w.k();
  F8 total[R][G], slice[R][G];
  for (int r = 0; r < R; ++r) {
    for (int j = 0; j < G; ++j)
      total[r][j] = zero();
  }
  for (int begin = 0; begin < k; begin += kSlice) {
    const int end = begin + kSlice < k ? begin + kSlice : k;
    for (int r = 0; r < R; ++r) {
      for (int j = 0; j < G; ++j)
        slice[r][j] = zero();
    }
    for (int i = begin; i < end; ++i) {
      F8 columns[G];
      for (int j = 0; j < G; ++j)
        columns[j] = loadColumns(w.group(g + j) + std::size_t(i) * F::kPackedBytes, F{});
      for (int r = 0; r < R; ++r) {
        const F8 a = all(x[static_cast<std::size_t>(row + r) * k + i]);
        for (int j = 0; j < G; ++j)
          slice[r][j] = fma(a, columns[j], slice[r][j]);
      }
    }
    for (int r = 0; r < R; ++r) {
      for (int j = 0; j < G; ++j)
        total[r][j] = total[r][j] + slice[r][j];
    }
  }
  for (int r = 0; r < R; ++r) {
    for (int j = 0; j < G; ++j) {
      float* to = out + (row + r) * outStride + (g + j) * kGroup;
      const int columns = w.n() - (g + j) * kGroup;
      if (columns >= kGroup) {
        store(to, total[r][j]);
      } else {
        storeSome(to, total[r][j], columns);
      }
    }
  }
}

template <class F, int G>
TANDEM_INLINE void rowsOf(const PackedMatrix& w, const float* x, int rows, int g, float* out,
                          std::size_t outStride) {
  int r = 0;
  for (; r + 2 <= rows; r += 2)
    tile<F, 2, G>(w, x, r, g, out, outStride);
  if (r < rows) tile<F, 1, G>(w, x, r, g, out, outStride);
}

template <class F>
TANDEM_INLINE void matmul(const PackedMatrix& w, const float* x, int rows, int groupBegin, int groupEnd,
                          float* out, std::size_t outStride) {
  int g = groupBegin;
  for (; g + 4 <= groupEnd; g += 4)
    rowsOf<F, 4>(w, x, rows, g, out, outStride);
  for (; g < groupEnd; ++g)
    rowsOf<F, 1>(w, x, rows, g, out, outStride);
}

}  // namespace

void matmulFloat(const PackedMatrix& w, const float* x, int rows, int groupBegin, int groupEnd, float* out,
                 std::size_t outStride) {
  if (w.format() == WeightFormat::kF32) {
    matmul<F32>(w, x, rows, groupBegin, groupEnd, out, outStride);
  } else if (w.format() == WeightFormat::kF16) {
    matmul<F16>(w, x, rows, groupBegin, groupEnd, out, outStride);
  } else {
    matmul<BF16>(w, x, rows, groupBegin, groupEnd, out, outStride);
  }
}

}  // namespace tandem::kernels::TANDEM_SET
