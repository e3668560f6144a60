// Q5_K: as Q4_K with q in 0 … 31: value = (d * s_j) * q - (dmin * m_j) in block j of 32.
#pragma once

#include "engine/kernels/quant/q4_k.h"

namespace tandem::kernels {

struct Q5_K : SubMinima<Q5_K> {
  static constexpr int kElements = 256;
  static constexpr int kFileBytes =
      176;  // d, dmin (F16), 12 bytes of s and m, 32 bytes of high bits, 128 of nibbles
  static constexpr int kBlockBytes = 176;  // packed: nibbles 128, high bits 32, s 8 bytes, m 8 bytes
  static constexpr int kPackedBytes = 8 * kBlockBytes + 32;  // eight blocks, then d and dmin 8 x F16 each
  static constexpr int kHighAt = 128;                        // within a block
  static constexpr int kSubScaleAt = 160;
  static constexpr int kSubMinimumAt = 168;
  static constexpr int kScaleAt = 8 * kBlockBytes;
  static constexpr int kMinimumAt = kScaleAt + 16;
  static constexpr BlockKind kKind = BlockKind::kScaleAndMinimum;

  // Element i of block j: its high bit is bit j of the i-th byte.
  static int element(const std::uint8_t* block, int j, int i) {
    const std::uint8_t byte = block[48 + (j / 2) * 32 + i];
    return (j % 2 == 0 ? byte & 15 : byte >> 4) | ((block[16 + i] >> j) & 1) << 4;
  }

  static void place(std::uint8_t* out, int c, int i, int q) {
    placeNibble(out, c, i, q & 15);
    placeBit(out + kHighAt, c, i, q >> 4);
  }
  static int placed(const std::uint8_t* in, int c, int i) {
    return nibbleAt(in, c, i) | bitAt(in + kHighAt, c, i) << 4;
  }
};

}  // namespace tandem::kernels
