// What a packed unit means, one column at a time: the scalar view from which the reference kernels and the
// tests read.
#pragma once

#include <cstdint>

namespace tandem::kernels {

// 32 elements of one column: element i is scale * sub[i / 16] * q[i] + minimum.
struct BlockView {
  std::int32_t q[32];
  std::int32_t sub[2];  // integer sub-scales of the two 16-wide halves; 1 where the format has none
  float scale;          // d_w
  float minimum;        // 0 where the format has none
};

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

}  // namespace tandem::kernels
