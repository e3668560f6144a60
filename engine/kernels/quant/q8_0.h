// Q8_0: 32 elements, value = d * q, q in -128 … 127.
#pragma once

#include <cstring>

#include "engine/kernels/half.h"
#include "engine/kernels/quant/packed_block.h"

namespace tandem::kernels {

struct Q8_0 {
  static constexpr int kElements = 32;
  static constexpr int kFileBytes = 34;     // d (F16), 32 x int8
  static constexpr int kPackedBytes = 272;  // int8 256, d 8 x F16
  static constexpr int kScaleAt = 256;
  static constexpr BlockKind kKind = BlockKind::kScale;

  static void dequantize(const std::uint8_t* block, float* out) {
    std::uint16_t d;
    std::memcpy(&d, block, 2);
    for (int i = 0; i < 32; ++i)
      out[i] = static_cast<float>(static_cast<std::int8_t>(block[2 + i])) * halfToFloat(d);
  }

  static void pack(const std::uint8_t* block, int c, std::uint8_t* unit) {
    for (int i = 0; i < 32; ++i)
      unit[interleavedByte(c, i)] = block[2 + i];
    std::memcpy(unit + kScaleAt + 2 * c, block, 2);
  }

  static BlockView view(const std::uint8_t* unit, int /*blockInUnit*/, int c) {
    BlockView v;
    std::uint16_t d;
    std::memcpy(&d, unit + kScaleAt + 2 * c, 2);
    for (int i = 0; i < 32; ++i)
      v.q[i] = static_cast<std::int8_t>(unit[interleavedByte(c, i)]);
    v.scale = halfToFloat(d);
    return v;
  }
};

}  // namespace tandem::kernels
