// What a packed unit means, one column at a time: the scalar view from which the reference kernels and the
// tests read.
#pragma once

#include <cstdint>
#include <cstring>

#include "engine/kernels/half.h"

namespace tandem::kernels {

// How a block of 32 enters its column's sum (docs/arithmetic.md, 2).
enum class BlockKind : std::uint8_t {
  kScale,               // scale * isum
  kScaleAndMinimum,     // the same and minimum * (sum of the activations)
  kScaleAndHalfMinima,  // the same, with integer minima of the two halves joined in int32
  kTwoScales,           // the halves are summed apart: scale * isum0, then secondScale * isum1
};

// 32 elements of one column: element i is scale * sub[i / 16] * q[i], plus minimum (* subMinimum[i / 16]);
// with kTwoScales the second half has secondScale.
struct BlockView {
  std::int32_t q[32] = {};
  std::int32_t sub[2] = {1, 1};  // integer sub-scales of the two 16-wide halves
  std::int32_t subMinimum[2] = {1, 1};
  float scale = 0;  // d_w
  float secondScale = 0;
  float minimum = 0;
};

inline float loadHalf(const std::uint8_t* p) {
  std::uint16_t h;
  std::memcpy(&h, p, 2);
  return halfToFloat(h);
}

// Places the byte of element `k` (0 … 31) of column `c` in the interleaved order: vector k / 4 holds, for
// each of the eight columns, four successive elements.
constexpr int interleavedByte(int c, int k) {
  return (k / 4) * 32 + c * 4 + k % 4;
}

// The same for nibbles: vectors 0 … 3 in the low halves of 128 bytes, vectors 4 … 7 in the high halves.
inline int nibbleAt(const std::uint8_t* bytes, int c, int k) {
  const std::uint8_t byte = bytes[interleavedByte(c, k % 16)];
  return k < 16 ? byte & 15 : byte >> 4;
}
inline void placeNibble(std::uint8_t* bytes, int c, int k, int value) {
  bytes[interleavedByte(c, k % 16)] |= static_cast<std::uint8_t>(k < 16 ? value : value << 4);
}

// For pairs of bits: vectors 0 … 3 in 32 bytes, vector v at bits 2v and 2v + 1; vectors 4 … 7 in the next 32.
inline int pairAt(const std::uint8_t* bytes, int c, int k) {
  return (bytes[(k / 16) * 32 + c * 4 + k % 4] >> (2 * (k / 4 % 4))) & 3;
}
inline void placePair(std::uint8_t* bytes, int c, int k, int value) {
  bytes[(k / 16) * 32 + c * 4 + k % 4] |= static_cast<std::uint8_t>(value << (2 * (k / 4 % 4)));
}

// For single bits: vector v at bit v of 32 bytes.
inline int bitAt(const std::uint8_t* bytes, int c, int k) {
  return (bytes[c * 4 + k % 4] >> (k / 4)) & 1;
}
inline void placeBit(std::uint8_t* bytes, int c, int k, int value) {
  bytes[c * 4 + k % 4] |= static_cast<std::uint8_t>(value << (k / 4));
}

// Element e (0 … 255) of a file's 64 bytes of bit pairs: each half of 128 keeps its quarters of 32 in the
// four pairs of 32 bytes.
inline int quarteredPair(const std::uint8_t* bytes, int e) {
  return (bytes[e / 128 * 32 + e % 32] >> (2 * (e % 128 / 32))) & 3;
}

}  // namespace tandem::kernels
