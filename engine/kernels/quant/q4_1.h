// Q4_1: 32 elements, value = d * q + m, q in 0 … 15.
#pragma once

#include <cstring>

#include "engine/kernels/half.h"
#include "engine/kernels/quant/packed_block.h"

namespace tandem::kernels {

struct Q4_1 {
  static constexpr int kElements = 32;      // of one block in the file
  static constexpr int kFileBytes = 20;     // d (F16), m (F16), 16 bytes: element i low, element i + 16 high
  static constexpr int kPackedBytes = 160;  // nibbles 128, d 8 x F16, m 8 x F16
  static constexpr int kScaleAt = 128;
  static constexpr int kMinimumAt = 144;
  static constexpr BlockKind kKind = BlockKind::kScaleAndMinimum;

  static void integers(const std::uint8_t* block, std::int32_t q[32], std::uint16_t* d, std::uint16_t* m) {
    std::memcpy(d, block, 2);
    std::memcpy(m, block + 2, 2);
    for (int i = 0; i < 16; ++i) {
      q[i] = block[4 + i] & 15;
      q[i + 16] = block[4 + i] >> 4;
    }
  }

  static void dequantize(const std::uint8_t* block, float* out) {
    std::int32_t q[32];
    std::uint16_t d, m;
    integers(block, q, &d, &m);
    for (int i = 0; i < 32; ++i)
      out[i] = static_cast<float>(q[i]) * halfToFloat(d) + halfToFloat(m);
  }

  // Adds column c to a unit that starts as zeros.
  static void pack(const std::uint8_t* block, int c, std::uint8_t* unit) {
    std::int32_t q[32];
    std::uint16_t d, m;
    integers(block, q, &d, &m);
    for (int i = 0; i < 32; ++i)
      placeNibble(unit, c, i, q[i]);
    std::memcpy(unit + kScaleAt + 2 * c, &d, 2);
    std::memcpy(unit + kMinimumAt + 2 * c, &m, 2);
  }

  static BlockView view(const std::uint8_t* unit, int /*blockInUnit*/, int c) {
    BlockView v;
    std::uint16_t d, m;
    std::memcpy(&d, unit + kScaleAt + 2 * c, 2);
    std::memcpy(&m, unit + kMinimumAt + 2 * c, 2);
    for (int i = 0; i < 32; ++i)
      v.q[i] = nibbleAt(unit, c, i);
    v.scale = halfToFloat(d);
    v.minimum = halfToFloat(m);
    return v;
  }
};

}  // namespace tandem::kernels
