// Q3_K: super-blocks of 256 elements; element i has value = d * s * (q - 4), q in 0 … 7, with a 6-bit
// sub-scale s - 32 for every 16 elements.
#pragma once

#include <cstring>

#include "engine/kernels/half.h"
#include "engine/kernels/quant/packed_block.h"

namespace tandem::kernels {

struct Q3_K {
  static constexpr int kElements = 256;
  static constexpr int kFileBytes = 110;   // 32 bytes of high bits, 64 of pairs, 12 of sub-scales, d (F16)
  static constexpr int kBlockBytes = 112;  // packed: pairs 64, high bits 32, (s0, s1) of each column 16
  static constexpr int kPackedBytes = 8 * kBlockBytes + 16;  // eight blocks, then d 8 x F16
  static constexpr int kHighAt = 64;                         // within a block
  static constexpr int kSubScaleAt = 96;
  static constexpr int kScaleAt = 8 * kBlockBytes;
  static constexpr BlockKind kKind = BlockKind::kScale;

  static int element(const std::uint8_t* block, int e) {  // 0 … 7
    return quarteredPair(block + 32, e) | ((block[e % 32] >> (e / 32)) & 1) << 2;
  }
  static int subScale(const std::uint8_t* block, int sixteenth) {  // -32 … 31
    const std::uint8_t* s = block + 96;
    const int low = sixteenth < 8 ? s[sixteenth] & 15 : s[sixteenth - 8] >> 4;
    return (low | ((s[8 + sixteenth % 4] >> (2 * (sixteenth / 4))) & 3) << 4) - 32;
  }

  static void dequantize(const std::uint8_t* block, float* out) {
    for (int e = 0; e < 256; ++e) {
      const float scale = loadHalf(block + 108) * static_cast<float>(subScale(block, e / 16));
      out[e] = scale * static_cast<float>(element(block, e) - 4);
    }
  }

  static void pack(const std::uint8_t* block, int c, std::uint8_t* unit) {
    for (int j = 0; j < 8; ++j) {
      std::uint8_t* out = unit + j * kBlockBytes;
      for (int i = 0; i < 32; ++i) {
        placePair(out, c, i, element(block, j * 32 + i) & 3);
        placeBit(out + kHighAt, c, i, element(block, j * 32 + i) >> 2);
      }
      for (int half = 0; half < 2; ++half)
        out[kSubScaleAt + 2 * c + half] = static_cast<std::uint8_t>(subScale(block, 2 * j + half));
    }
    std::memcpy(unit + kScaleAt + 2 * c, block + 108, 2);
  }

  static BlockView view(const std::uint8_t* unit, int blockInUnit, int c) {
    const std::uint8_t* in = unit + blockInUnit * kBlockBytes;
    BlockView v;
    for (int i = 0; i < 32; ++i)
      v.q[i] = (pairAt(in, c, i) | bitAt(in + kHighAt, c, i) << 2) - 4;
    for (int half = 0; half < 2; ++half)
      v.sub[half] = static_cast<std::int8_t>(in[kSubScaleAt + 2 * c + half]);
    v.scale = loadHalf(unit + kScaleAt + 2 * c);
    return v;
  }
};

}  // namespace tandem::kernels
