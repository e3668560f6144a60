// The formats whose 4-bit numbers name an entry of a table: IQ4_NL and IQ4_XS (steps that grow outwards),
// MXFP4 and NVFP4 (E2M1 numbers, doubled).
#pragma once

#include <bit>
#include <cstring>

#include "engine/kernels/half.h"
#include "engine/kernels/quant/packed_block.h"

namespace tandem::kernels {

inline constexpr std::int8_t kGrowingSteps[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                  1,    13,   25,  38,  53,  69,  89,  113};
inline constexpr std::int8_t kDoubledE2M1[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// Element i of 32 in 16 bytes: i low, i + 16 high.
inline int halvedNibble(const std::uint8_t* bytes, int i) {
  return i < 16 ? bytes[i] & 15 : bytes[i - 16] >> 4;
}

// IQ4_NL: 32 elements, value = d * step.
struct IQ4_NL {
  static constexpr int kElements = 32;
  static constexpr int kFileBytes = 18;     // d (F16), 16 bytes
  static constexpr int kPackedBytes = 144;  // nibbles 128, d 8 x F16
  static constexpr int kScaleAt = 128;
  static constexpr BlockKind kKind = BlockKind::kScale;

  static void dequantize(const std::uint8_t* block, float* out) {
    for (int i = 0; i < 32; ++i)
      out[i] = loadHalf(block) * static_cast<float>(kGrowingSteps[halvedNibble(block + 2, i)]);
  }
  static void pack(const std::uint8_t* block, int c, std::uint8_t* unit) {
    for (int i = 0; i < 32; ++i)
      placeNibble(unit, c, i, halvedNibble(block + 2, i));
    std::memcpy(unit + kScaleAt + 2 * c, block, 2);
  }
  static BlockView view(const std::uint8_t* unit, int /*blockInUnit*/, int c) {
    BlockView v;
    for (int i = 0; i < 32; ++i)
      v.q[i] = kGrowingSteps[nibbleAt(unit, c, i)];
    v.scale = loadHalf(unit + kScaleAt + 2 * c);
    return v;
  }
};

// IQ4_XS: super-blocks of 256 elements; block j of 32 has value = (d * s_j) * step with a 6-bit s_j, less 32.
struct IQ4_XS {
  static constexpr int kElements = 256;
  static constexpr int kFileBytes =
      136;  // d (F16), high pairs of s (16 bits), low nibbles of s (4), 128 bytes
  static constexpr int kBlockBytes = 136;                    // packed: nibbles 128, s 8 x int8
  static constexpr int kPackedBytes = 8 * kBlockBytes + 16;  // eight blocks, then d 8 x F16
  static constexpr int kSubScaleAt = 128;                    // within a block
  static constexpr int kScaleAt = 8 * kBlockBytes;
  static constexpr BlockKind kKind = BlockKind::kScale;

  static int subScale(const std::uint8_t* block, int j) {
    std::uint16_t high;
    std::memcpy(&high, block + 2, 2);
    const int low = (block[4 + j / 2] >> (4 * (j % 2))) & 15;
    return (low | ((high >> (2 * j)) & 3) << 4) - 32;
  }
  static void dequantize(const std::uint8_t* block, float* out) {
    for (int j = 0; j < 8; ++j) {
      const float scale = loadHalf(block) * static_cast<float>(subScale(block, j));
      for (int i = 0; i < 32; ++i)
        out[j * 32 + i] = scale * static_cast<float>(kGrowingSteps[halvedNibble(block + 8 + 16 * j, i)]);
    }
  }
  static void pack(const std::uint8_t* block, int c, std::uint8_t* unit) {
    for (int j = 0; j < 8; ++j) {
      std::uint8_t* out = unit + j * kBlockBytes;
      for (int i = 0; i < 32; ++i)
        placeNibble(out, c, i, halvedNibble(block + 8 + 16 * j, i));
      out[kSubScaleAt + c] = static_cast<std::uint8_t>(subScale(block, j));
    }
    std::memcpy(unit + kScaleAt + 2 * c, block, 2);
  }
  static BlockView view(const std::uint8_t* unit, int blockInUnit, int c) {
    const std::uint8_t* in = unit + blockInUnit * kBlockBytes;
    BlockView v;
    for (int i = 0; i < 32; ++i)
      v.q[i] = kGrowingSteps[nibbleAt(in, c, i)];
    v.scale =
        loadHalf(unit + kScaleAt + 2 * c) * static_cast<float>(static_cast<std::int8_t>(in[kSubScaleAt + c]));
    return v;
  }
};

// MXFP4: 32 elements, value = 2^(e - 128) * doubled E2M1.
struct MXFP4 {
  static constexpr int kElements = 32;
  static constexpr int kFileBytes = 17;     // e, 16 bytes
  static constexpr int kPackedBytes = 160;  // nibbles 128, scales 8 x F32
  static constexpr int kScaleAt = 128;
  static constexpr BlockKind kKind = BlockKind::kScale;

  static float scaleOf(std::uint8_t e) {  // below e = 2 the power is subnormal
    return std::bit_cast<float>(e < 2 ? 0x00200000u << e : (e - 1u) << 23);
  }
  static void dequantize(const std::uint8_t* block, float* out) {
    for (int i = 0; i < 32; ++i)
      out[i] = scaleOf(block[0]) * static_cast<float>(kDoubledE2M1[halvedNibble(block + 1, i)]);
  }
  static void pack(const std::uint8_t* block, int c, std::uint8_t* unit) {
    for (int i = 0; i < 32; ++i)
      placeNibble(unit, c, i, halvedNibble(block + 1, i));
    const float scale = scaleOf(block[0]);
    std::memcpy(unit + kScaleAt + 4 * c, &scale, 4);
  }
  static BlockView view(const std::uint8_t* unit, int /*blockInUnit*/, int c) {
    BlockView v;
    for (int i = 0; i < 32; ++i)
      v.q[i] = kDoubledE2M1[nibbleAt(unit, c, i)];
    std::memcpy(&v.scale, unit + kScaleAt + 4 * c, 4);
    return v;
  }
};

// NVFP4: 64 elements; each 16 have value = scale * doubled E2M1 with an unsigned E4M3 scale, halved.
struct NVFP4 {
  static constexpr int kElements = 64;
  static constexpr int kFileBytes = 36;  // four scales, 4 x 8 bytes: element i low, i + 8 high
  static constexpr int kBlockBytes =
      192;  // packed: nibbles 128, scales of the first halves 8 x F32, of the second
  static constexpr int kPackedBytes = 2 * kBlockBytes;
  static constexpr int kScaleAt = 128;  // within a block
  static constexpr int kSecondScaleAt = 160;
  static constexpr BlockKind kKind = BlockKind::kTwoScales;

  static float scaleOf(std::uint8_t x) {  // 0x7F would be NaN and counts as 0
    const int exponent = (x >> 3) & 15, mantissa = x & 7;
    if (x == 0 || x == 0x7F) return 0.0f;
    return exponent == 0 ? static_cast<float>(mantissa) * 0x1p-10f
                         : static_cast<float>(8 + mantissa) * std::bit_cast<float>((exponent + 116u) << 23);
  }
  static int element(const std::uint8_t* block, int e) {
    const std::uint8_t byte = block[4 + (e / 16) * 8 + e % 8];
    return e % 16 < 8 ? byte & 15 : byte >> 4;
  }
  static void dequantize(const std::uint8_t* block, float* out) {
    for (int e = 0; e < 64; ++e)
      out[e] = static_cast<float>(kDoubledE2M1[element(block, e)]) * scaleOf(block[e / 16]);
  }
  static void pack(const std::uint8_t* block, int c, std::uint8_t* unit) {
    for (int j = 0; j < 2; ++j) {
      std::uint8_t* out = unit + j * kBlockBytes;
      for (int i = 0; i < 32; ++i)
        placeNibble(out, c, i, element(block, j * 32 + i));
      const float first = scaleOf(block[2 * j]), second = scaleOf(block[2 * j + 1]);
      std::memcpy(out + kScaleAt + 4 * c, &first, 4);
      std::memcpy(out + kSecondScaleAt + 4 * c, &second, 4);
    }
  }
  static BlockView view(const std::uint8_t* unit, int blockInUnit, int c) {
    const std::uint8_t* in = unit + blockInUnit * kBlockBytes;
    BlockView v;
    for (int i = 0; i < 32; ++i)
      v.q[i] = kDoubledE2M1[nibbleAt(in, c, i)];
    std::memcpy(&v.scale, in + kScaleAt + 4 * c, 4);
    std::memcpy(&v.secondScale, in + kSecondScaleAt + 4 * c, 4);
    return v;
  }
};

}  // namespace tandem::kernels
