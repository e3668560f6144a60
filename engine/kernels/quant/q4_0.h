// Q4_0: 32 elements, value = d * (q - 8), q in 0 … 15.
#pragma once

#include <cstring>

#include "engine/kernels/half.h"
#include "engine/kernels/quant/packed_block.h"

namespace tandem::kernels {

struct Q4_0 {
  static constexpr int kElements = 32;
  static constexpr int kFileBytes = 18;     // d (F16), 16 bytes: element i low, element i + 16 high
  static constexpr int kPackedBytes = 144;  // nibbles 128, d 8 x F16
  static constexpr int kScaleAt = 128;
  static constexpr BlockKind kKind = BlockKind::kScale;

  static int integer(const std::uint8_t* block, int i) {
    return i < 16 ? block[2 + i] & 15 : block[2 + i - 16] >> 4;
  }

  static void dequantize(const std::uint8_t* block, float* out) {
    for (int i = 0; i < 32; ++i)
      out[i] = static_cast<float>(integer(block, i) - 8) * loadHalf(block);
  }

  static void pack(const std::uint8_t* block, int c, std::uint8_t* unit) {
    for (int i = 0; i < 32; ++i)
      placeNibble(unit, c, i, integer(block, i));
    std::memcpy(unit + kScaleAt + 2 * c, block, 2);
  }

  static BlockView view(const std::uint8_t* unit, int /*blockInUnit*/, int c) {
    BlockView v;
    for (int i = 0; i < 32; ++i)
      v.q[i] = nibbleAt(unit, c, i) - 8;
    v.scale = loadHalf(unit + kScaleAt + 2 * c);
    return v;
  }
};

}  // namespace tandem::kernels
