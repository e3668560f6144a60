// F32, F16 and BF16 weights: units of one element, eight columns side by side.
#pragma once

#include <bit>
#include <cstring>

#include "engine/kernels/half.h"

namespace tandem::kernels {

struct F32 {
  static constexpr int kElements = 1;
  static constexpr int kFileBytes = 4;
  static constexpr int kPackedBytes = 32;
  static void dequantize(const std::uint8_t* block, float* out) { std::memcpy(out, block, 4); }
  static void pack(const std::uint8_t* block, int c, std::uint8_t* unit) {
    std::memcpy(unit + 4 * c, block, 4);
  }
  static float value(const std::uint8_t* unit, int c) {
    float f;
    std::memcpy(&f, unit + 4 * c, 4);
    return f;
  }
};

struct F16 {
  static constexpr int kElements = 1;
  static constexpr int kFileBytes = 2;
  static constexpr int kPackedBytes = 16;
  static void dequantize(const std::uint8_t* block, float* out) {
    std::uint16_t h;
    std::memcpy(&h, block, 2);
    *out = halfToFloat(h);
  }
  static void pack(const std::uint8_t* block, int c, std::uint8_t* unit) {
    std::memcpy(unit + 2 * c, block, 2);
  }
  static float value(const std::uint8_t* unit, int c) {
    std::uint16_t h;
    std::memcpy(&h, unit + 2 * c, 2);
    return halfToFloat(h);
  }
};

struct BF16 {  // the upper half of an F32
  static constexpr int kElements = 1;
  static constexpr int kFileBytes = 2;
  static constexpr int kPackedBytes = 16;
  static float widened(const std::uint8_t* p) {
    std::uint16_t h;
    std::memcpy(&h, p, 2);
    return std::bit_cast<float>(static_cast<std::uint32_t>(h) << 16);
  }
  static void dequantize(const std::uint8_t* block, float* out) { *out = widened(block); }
  static void pack(const std::uint8_t* block, int c, std::uint8_t* unit) {
    std::memcpy(unit + 2 * c, block, 2);
  }
  static float value(const std::uint8_t* unit, int c) { return widened(unit + 2 * c); }
};

}  // namespace tandem::kernels
