// The tile that every quantised format shares: R rows against one group of eight columns (rule 2).
//
// A format gives: Vectors (a block's integers of eight columns, unpacked once for all rows), load(),
// integerSum() (the block's exact int32 sums of one row), scale() and minimum() (fp32, eight columns). Its
// int16 stages are proven in its own file.
#pragma once

#include <immintrin.h>

#include <cstring>

#include "engine/kernels/arithmetic.h"
#include "engine/kernels/cpu/avx2/avx2.h"
#include "engine/kernels/cpu/avx2/f8.h"

namespace tandem::kernels::avx2 {

TANDEM_INLINE __m256i load32(const std::uint8_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
TANDEM_INLINE F8 loadHalves(const std::uint8_t* p) {
  return {_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
}
// Eight unsigned bytes as floats.
TANDEM_INLINE F8 loadBytes(const std::uint8_t* p) {
  return {_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))))};
}
// Four successive activations, in every column's lane.
TANDEM_INLINE __m256i broadcastWord(const void* p, int word) {
  std::int32_t value;
  std::memcpy(&value, static_cast<const char*>(p) + 4 * word, 4);
  return _mm256_set1_epi32(value);
}
// Vectors 0 … 7 of a block's nibbles.
TANDEM_INLINE void unpackNibbles(const std::uint8_t* p, __m256i (&v)[8]) {
  const __m256i low = _mm256_set1_epi8(15);
  for (int i = 0; i < 4; ++i) {
    const __m256i bytes = load32(p + 32 * i);
    v[i] = _mm256_and_si256(bytes, low);
    v[i + 4] = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), low);
  }
}

template <class F, int R>
TANDEM_INLINE void tile(const PackedMatrix& w, const QuantizedRows& x, int row, int g, float* out,
                        std::size_t outStride) {
  const int blocks = w.k() / kBlock;
  const std::int8_t* a = x.q + static_cast<std::size_t>(row) * w.k();
  const float* d = x.d + static_cast<std::size_t>(row) * blocks;
  const float* s = x.s + static_cast<std::size_t>(row) * blocks;
  const std::int16_t* sums = x.sums + static_cast<std::size_t>(row) * blocks * 2;
  const std::uint8_t* unit = w.group(g);
  F8 total[R], slice[R];
  for (int r = 0; r < R; ++r)
    total[r] = slice[r] = zero();

  for (int b = 0; b < blocks; ++b) {
    const int inUnit = b % F::kBlocksPerUnit;
    const typename F::Vectors v = F::load(unit, inUnit);
    const F8 scale = F::scale(unit, inUnit);
    for (int r = 0; r < R; ++r) {
      const std::size_t at = static_cast<std::size_t>(r) * blocks + b;
      const F8 sum = {_mm256_cvtepi32_ps(F::integerSum(v, a + at * kBlock, sums + at * 2))};
      slice[r] = fma(sum, scale * all(d[at]), slice[r]);
    }
    if constexpr (F::kHasMinimum) {
      const F8 minimum = F::minimum(unit, inUnit);
      for (int r = 0; r < R; ++r)
        slice[r] = fma(minimum, all(s[static_cast<std::size_t>(r) * blocks + b]), slice[r]);
    }
    if ((b + 1) % (kSlice / kBlock) == 0 || b + 1 == blocks) {
      for (int r = 0; r < R; ++r) {
        total[r] = total[r] + slice[r];
        slice[r] = zero();
      }
    }
    if (inUnit + 1 == F::kBlocksPerUnit) unit += F::kPackedBytes;
  }

  const int columns = w.n() - g * kGroup;
  for (int r = 0; r < R; ++r) {
    float* to = out + (row + r) * outStride + g * kGroup;
    if (columns >= kGroup) {
      store(to, total[r]);
    } else {
      storeSome(to, total[r], columns);
    }
  }
}

template <class F>
void matmul(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin, int groupEnd, float* out,
            std::size_t outStride) {
  for (int g = groupBegin; g < groupEnd; ++g) {
    int r = 0;
    for (; r + 4 <= rows; r += 4)
      tile<F, 4>(w, x, r, g, out, outStride);
    switch (rows - r) {
      case 3:
        tile<F, 3>(w, x, r, g, out, outStride);
        break;
      case 2:
        tile<F, 2>(w, x, r, g, out, outStride);
        break;
      case 1:
        tile<F, 1>(w, x, r, g, out, outStride);
        break;
      default:
        break;
    }
  }
}

}  // namespace tandem::kernels::avx2
