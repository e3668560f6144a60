// Q5_1: 32 elements, value = d * q + m, q in 0 … 31.
#pragma once

#include <cstring>

#include "engine/kernels/half.h"
#include "engine/kernels/quant/packed_block.h"

namespace tandem::kernels {

struct Q5_1 {
  static constexpr int kElements = 32;
  static constexpr int kFileBytes = 24;     // d, m (F16), 32 high bits, 16 bytes: element i low, i + 16 high
  static constexpr int kPackedBytes = 192;  // nibbles 128, high bits 32, d 8 x F16, m 8 x F16
  static constexpr int kHighAt = 128;       // bit v of byte b: fifth bit of byte b of vector v
  static constexpr int kScaleAt = 160;
  static constexpr int kMinimumAt = 176;
  static constexpr BlockKind kKind = BlockKind::kScaleAndMinimum;

  static int integer(const std::uint8_t* block, int i) {
    std::uint32_t high;
    std::memcpy(&high, block + 4, 4);
    const int low = i < 16 ? block[8 + i] & 15 : block[8 + i - 16] >> 4;
    return low | static_cast<int>((high >> i) & 1u) << 4;
  }

  static void dequantize(const std::uint8_t* block, float* out) {
    for (int i = 0; i < 32; ++i)
      out[i] = static_cast<float>(integer(block, i)) * loadHalf(block) + loadHalf(block + 2);
  }

  static void pack(const std::uint8_t* block, int c, std::uint8_t* unit) {
    for (int i = 0; i < 32; ++i) {
      placeNibble(unit, c, i, integer(block, i) & 15);
      placeBit(unit + kHighAt, c, i, integer(block, i) >> 4);
    }
    std::memcpy(unit + kScaleAt + 2 * c, block, 2);
    std::memcpy(unit + kMinimumAt + 2 * c, block + 2, 2);
  }

  static BlockView view(const std::uint8_t* unit, int /*blockInUnit*/, int c) {
    BlockView v;
    for (int i = 0; i < 32; ++i)
      v.q[i] = nibbleAt(unit, c, i) | bitAt(unit + kHighAt, c, i) << 4;
    v.scale = loadHalf(unit + kScaleAt + 2 * c);
    v.minimum = loadHalf(unit + kMinimumAt + 2 * c);
    return v;
  }
};

}  // namespace tandem::kernels
