// Q2_K: super-blocks of 256 elements; element i has value = d * s * q - dmin * m, q in 0 … 3, with 4-bit
// integers s and m for every 16 elements.
#pragma once

#include <cstring>

#include "engine/kernels/half.h"
#include "engine/kernels/quant/packed_block.h"

namespace tandem::kernels {

struct Q2_K {
  static constexpr int kElements = 256;
  static constexpr int kFileBytes = 84;   // 16 bytes: s low, m high; 64 bytes of pairs; d, dmin (F16)
  static constexpr int kBlockBytes = 96;  // packed: pairs 64, (s0, s1) of each column 16, (m0, m1) 16
  static constexpr int kPackedBytes = 8 * kBlockBytes + 32;  // eight blocks, then d and dmin 8 x F16 each
  static constexpr int kSubScaleAt = 64;                     // within a block
  static constexpr int kSubMinimumAt = 80;
  static constexpr int kScaleAt = 8 * kBlockBytes;
  static constexpr int kMinimumAt = kScaleAt + 16;
  static constexpr BlockKind kKind = BlockKind::kScaleAndHalfMinima;

  static void dequantize(const std::uint8_t* block, float* out) {
    for (int e = 0; e < 256; ++e) {
      const float scale = loadHalf(block + 80) * static_cast<float>(block[e / 16] & 15);
      const float minimum = loadHalf(block + 82) * static_cast<float>(block[e / 16] >> 4);
      out[e] = scale * static_cast<float>(quarteredPair(block + 16, e)) - minimum;
    }
  }

  static void pack(const std::uint8_t* block, int c, std::uint8_t* unit) {
    for (int j = 0; j < 8; ++j) {
      std::uint8_t* out = unit + j * kBlockBytes;
      for (int i = 0; i < 32; ++i)
        placePair(out, c, i, quarteredPair(block + 16, j * 32 + i));
      for (int half = 0; half < 2; ++half) {
        out[kSubScaleAt + 2 * c + half] = block[2 * j + half] & 15;
        out[kSubMinimumAt + 2 * c + half] = block[2 * j + half] >> 4;
      }
    }
    std::memcpy(unit + kScaleAt + 2 * c, block + 80, 2);
    std::memcpy(unit + kMinimumAt + 2 * c, block + 82, 2);
  }

  static BlockView view(const std::uint8_t* unit, int blockInUnit, int c) {
    const std::uint8_t* in = unit + blockInUnit * kBlockBytes;
    BlockView v;
    for (int i = 0; i < 32; ++i)
      v.q[i] = pairAt(in, c, i);
    for (int half = 0; half < 2; ++half) {
      v.sub[half] = in[kSubScaleAt + 2 * c + half];
      v.subMinimum[half] = in[kSubMinimumAt + 2 * c + half];
    }
    v.scale = loadHalf(unit + kScaleAt + 2 * c);
    v.minimum = -loadHalf(unit + kMinimumAt + 2 * c);
    return v;
  }
};

}  // namespace tandem::kernels
