// Q6_K: super-blocks of 256 elements; element i has value = d * s * (q - 32), q in 0 … 63, with an int8
// sub-scale s for every 16 elements.
#pragma once

#include <cstring>

#include "engine/kernels/half.h"
#include "engine/kernels/quant/packed_block.h"

namespace tandem::kernels {

struct Q6_K {
  static constexpr int kElements = 256;
  static constexpr int kFileBytes = 210;   // low nibbles 128, high pairs 64, s 16 x int8, d (F16)
  static constexpr int kBlockBytes = 208;  // packed: nibbles 128, high pairs 64, (s0, s1) of each column 16
  static constexpr int kPackedBytes = 8 * kBlockBytes + 16;  // eight blocks, then d 8 x F16
  static constexpr int kHighAt =
      128;  // bits 2v, 2v+1 of byte b: bits 4, 5 of byte b of vector v (v + 4: +32)
  static constexpr int kSubScaleAt = 192;
  static constexpr int kScaleAt = 8 * kBlockBytes;
  static constexpr BlockKind kKind = BlockKind::kScale;

  // Element e (0 … 255): each half of 128 keeps its quarters of 32 in low and high nibbles of 64 bytes.
  static int element(const std::uint8_t* block, int e) {
    const int half = e / 128, quarter = (e % 128) / 32, l = e % 32;
    const std::uint8_t low = block[half * 64 + (quarter % 2) * 32 + l];
    const std::uint8_t high = block[128 + half * 32 + l];
    return (quarter < 2 ? low & 15 : low >> 4) | ((high >> (2 * quarter)) & 3) << 4;
  }
  static int subScale(const std::uint8_t* block, int sixteenth) {
    return static_cast<std::int8_t>(block[192 + sixteenth]);
  }

  static void dequantize(const std::uint8_t* block, float* out) {
    std::uint16_t d;
    std::memcpy(&d, block + 208, 2);
    for (int e = 0; e < 256; ++e) {
      const float scale = halfToFloat(d) * static_cast<float>(subScale(block, e / 16));
      out[e] = scale * static_cast<float>(element(block, e) - 32);
    }
  }

  static void pack(const std::uint8_t* block, int c, std::uint8_t* unit) {
    for (int j = 0; j < 8; ++j) {
      std::uint8_t* out = unit + j * kBlockBytes;
      for (int i = 0; i < 32; ++i) {
        const int q = element(block, j * 32 + i);
        placeNibble(out, c, i, q & 15);
        placePair(out + kHighAt, c, i, q >> 4);
      }
      out[kSubScaleAt + 2 * c] = static_cast<std::uint8_t>(subScale(block, 2 * j));
      out[kSubScaleAt + 2 * c + 1] = static_cast<std::uint8_t>(subScale(block, 2 * j + 1));
    }
    std::memcpy(unit + kScaleAt + 2 * c, block + 208, 2);
  }

  static BlockView view(const std::uint8_t* unit, int blockInUnit, int c) {
    const std::uint8_t* in = unit + blockInUnit * kBlockBytes;
    BlockView v;
    std::uint16_t d;
    std::memcpy(&d, unit + kScaleAt + 2 * c, 2);
    for (int i = 0; i < 32; ++i)
      v.q[i] = (nibbleAt(in, c, i) | pairAt(in + kHighAt, c, i) << 4) - 32;
    v.sub[0] = static_cast<std::int8_t>(in[kSubScaleAt + 2 * c]);
    v.sub[1] = static_cast<std::int8_t>(in[kSubScaleAt + 2 * c + 1]);
    v.scale = halfToFloat(d);
    return v;
  }
};

}  // namespace tandem::kernels
