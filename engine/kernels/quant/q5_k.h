// Q5_K: as Q4_K with q in 0 … 31: value = (d * s_j) * q - (dmin * m_j) in block j of 32.
#pragma once

#include "engine/kernels/quant/q4_k.h"

namespace tandem::kernels {

struct Q5_K {
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

  static void dequantize(const std::uint8_t* block, float* out) {
    for (int j = 0; j < 8; ++j) {
      int s, m;
      Q4_K::subScales(block + 4, j, &s, &m);
      const float scale = loadHalf(block) * static_cast<float>(s);
      const float minimum = loadHalf(block + 2) * static_cast<float>(m);
      for (int i = 0; i < 32; ++i)
        out[j * 32 + i] = scale * static_cast<float>(element(block, j, i)) - minimum;
    }
  }

  static void pack(const std::uint8_t* block, int c, std::uint8_t* unit) {
    for (int j = 0; j < 8; ++j) {
      std::uint8_t* out = unit + j * kBlockBytes;
      int s, m;
      Q4_K::subScales(block + 4, j, &s, &m);
      for (int i = 0; i < 32; ++i) {
        placeNibble(out, c, i, element(block, j, i) & 15);
        placeBit(out + kHighAt, c, i, element(block, j, i) >> 4);
      }
      out[kSubScaleAt + c] = static_cast<std::uint8_t>(s);
      out[kSubMinimumAt + c] = static_cast<std::uint8_t>(m);
    }
    std::memcpy(unit + kScaleAt + 2 * c, block, 2);
    std::memcpy(unit + kMinimumAt + 2 * c, block + 2, 2);
  }

  static BlockView view(const std::uint8_t* unit, int blockInUnit, int c) {
    const std::uint8_t* in = unit + blockInUnit * kBlockBytes;
    BlockView v;
    for (int i = 0; i < 32; ++i)
      v.q[i] = nibbleAt(in, c, i) | bitAt(in + kHighAt, c, i) << 4;
    v.scale = loadHalf(unit + kScaleAt + 2 * c) * static_cast<float>(in[kSubScaleAt + c]);
    v.minimum = -(loadHalf(unit + kMinimumAt + 2 * c) * static_cast<float>(in[kSubMinimumAt + c]));
    return v;
  }
};

}  // namespace tandem::kernels
