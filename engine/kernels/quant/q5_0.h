// Q5_0: 32 elements, value = d * (q - 16), q in 0 … 31.
#pragma once

#include <cstring>

#include "engine/kernels/half.h"
#include "engine/kernels/quant/packed_block.h"

namespace tandem::kernels {

struct Q5_0 {
  static constexpr int kElements = 32;
  static constexpr int kFileBytes =
      22;  // d (F16), 32 high bits, 16 bytes: element i low, element i + 16 high
  static constexpr int kPackedBytes = 176;  // nibbles 128, high bits 32, d 8 x F16
  static constexpr int kHighAt = 128;       // bit v of byte b: fifth bit of byte b of vector v
  static constexpr int kScaleAt = 160;
  static constexpr BlockKind kKind = BlockKind::kScale;

  static void integers(const std::uint8_t* block, std::int32_t q[32], std::uint16_t* d) {
    std::uint32_t high;
    std::memcpy(d, block, 2);
    std::memcpy(&high, block + 2, 4);
    for (int i = 0; i < 16; ++i) {
      q[i] = (block[6 + i] & 15) | static_cast<int>((high >> i) & 1u) << 4;
      q[i + 16] = (block[6 + i] >> 4) | static_cast<int>((high >> (i + 16)) & 1u) << 4;
    }
  }

  static void dequantize(const std::uint8_t* block, float* out) {
    std::int32_t q[32];
    std::uint16_t d;
    integers(block, q, &d);
    for (int i = 0; i < 32; ++i)
      out[i] = static_cast<float>(q[i] - 16) * halfToFloat(d);
  }

  static void pack(const std::uint8_t* block, int c, std::uint8_t* unit) {
    std::int32_t q[32];
    std::uint16_t d;
    integers(block, q, &d);
    for (int i = 0; i < 32; ++i) {
      placeNibble(unit, c, i, q[i] & 15);
      placeBit(unit + kHighAt, c, i, q[i] >> 4);
    }
    std::memcpy(unit + kScaleAt + 2 * c, &d, 2);
  }

  static BlockView view(const std::uint8_t* unit, int /*blockInUnit*/, int c) {
    BlockView v;
    std::uint16_t d;
    std::memcpy(&d, unit + kScaleAt + 2 * c, 2);
    for (int i = 0; i < 32; ++i)
      v.q[i] = (nibbleAt(unit, c, i) | bitAt(unit + kHighAt, c, i) << 4) - 16;
    v.scale = halfToFloat(d);
    return v;
  }
};

}  // namespace tandem::kernels
