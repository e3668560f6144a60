// Q4_K: super-blocks of 256 elements; block j of 32 has value = (d * s_j) * q - (dmin * m_j), q in 0 … 15 and
// 6-bit integers s_j, m_j. Both products are exact in fp32 (11 + 6 bits).
#pragma once

#include <cstring>

#include "engine/kernels/half.h"
#include "engine/kernels/quant/packed_block.h"

namespace tandem::kernels {

// What Q4_K and Q5_K share: d and dmin (F16), then s_j and m_j in 12 bytes.
template <class F>
struct SubMinima {
  // The 6-bit integers of block j: s in the first, m in the second.
  static void subScales(const std::uint8_t* packed, int j, int* s, int* m) {
    if (j < 4) {
      *s = packed[j] & 63;
      *m = packed[j + 4] & 63;
    } else {
      *s = (packed[j + 4] & 15) | (packed[j - 4] >> 6) << 4;
      *m = (packed[j + 4] >> 4) | (packed[j] >> 6) << 4;
    }
  }

  static void dequantize(const std::uint8_t* block, float* out) {
    for (int j = 0; j < 8; ++j) {
      int s, m;
      subScales(block + 4, j, &s, &m);
      const float scale = loadHalf(block) * static_cast<float>(s);
      const float minimum = loadHalf(block + 2) * static_cast<float>(m);
      for (int i = 0; i < 32; ++i)
        out[j * 32 + i] = scale * static_cast<float>(F::element(block, j, i)) - minimum;
    }
  }

  static void pack(const std::uint8_t* block, int c, std::uint8_t* unit) {
    for (int j = 0; j < 8; ++j) {
      std::uint8_t* out = unit + j * F::kBlockBytes;
      int s, m;
      subScales(block + 4, j, &s, &m);
      for (int i = 0; i < 32; ++i)
        F::place(out, c, i, F::element(block, j, i));
      out[F::kSubScaleAt + c] = static_cast<std::uint8_t>(s);
      out[F::kSubMinimumAt + c] = static_cast<std::uint8_t>(m);
    }
    std::memcpy(unit + F::kScaleAt + 2 * c, block, 2);
    std::memcpy(unit + F::kMinimumAt + 2 * c, block + 2, 2);
  }

  static BlockView view(const std::uint8_t* unit, int blockInUnit, int c) {
    const std::uint8_t* in = unit + blockInUnit * F::kBlockBytes;
    BlockView v;
    for (int i = 0; i < 32; ++i)
      v.q[i] = F::placed(in, c, i);
    v.scale = loadHalf(unit + F::kScaleAt + 2 * c) * static_cast<float>(in[F::kSubScaleAt + c]);
    v.minimum = -(loadHalf(unit + F::kMinimumAt + 2 * c) * static_cast<float>(in[F::kSubMinimumAt + c]));
    return v;
  }
};

struct Q4_K : SubMinima<Q4_K> {
  static constexpr int kElements = 256;
  static constexpr int kFileBytes = 144;   // d, dmin (F16), 12 bytes of 6-bit s and m, 128 bytes of nibbles
  static constexpr int kBlockBytes = 144;  // packed: nibbles 128, s 8 bytes, m 8 bytes
  static constexpr int kPackedBytes = 8 * kBlockBytes + 32;  // eight blocks, then d and dmin 8 x F16 each
  static constexpr int kSubScaleAt = 128;                    // within a block
  static constexpr int kSubMinimumAt = 136;
  static constexpr int kScaleAt = 8 * kBlockBytes;
  static constexpr int kMinimumAt = kScaleAt + 16;
  static constexpr BlockKind kKind = BlockKind::kScaleAndMinimum;

  // Element i of block j: blocks 2p and 2p + 1 share 32 bytes, the even one in the low nibbles.
  static int element(const std::uint8_t* block, int j, int i) {
    const std::uint8_t byte = block[16 + (j / 2) * 32 + i];
    return j % 2 == 0 ? byte & 15 : byte >> 4;
  }
  static void place(std::uint8_t* out, int c, int i, int q) { placeNibble(out, c, i, q); }
  static int placed(const std::uint8_t* in, int c, int i) { return nibbleAt(in, c, i); }
};

}  // namespace tandem::kernels
