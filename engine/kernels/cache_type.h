// How a key-value cache keeps its rows (docs/arithmetic.md, section 4). A row is the key or the value of one
// head of one token, and lies in memory as `stride` elements, zeros behind the head; of int8 rows the scales
// of their blocks follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/base/status.h"
#include "engine/kernels/arithmetic.h"

namespace tandem::kernels {

enum class RowType : std::uint8_t {
  kF16,
  kF32,
  kInt8,  // element = d q; a block of kBlock elements shares d, an F16
};

// A cache is a profile: each is exact to itself and to no other. The numbers are kept on disk.
enum class CacheType : std::uint8_t {
  kF16,
  kF32,
  kVq8,  // keys F16, values int8
  kQ8,   // both int8
};
inline constexpr CacheType kCacheTypes[] = {CacheType::kF16, CacheType::kF32, CacheType::kVq8,
                                            CacheType::kQ8};

constexpr RowType keyRows(CacheType type) {
  return type == CacheType::kF32 ? RowType::kF32 : type == CacheType::kQ8 ? RowType::kInt8 : RowType::kF16;
}
constexpr RowType valueRows(CacheType type) {
  return type == CacheType::kVq8 ? RowType::kInt8 : keyRows(type);
}

// Bytes of a row of `stride` elements.
constexpr std::size_t rowBytes(RowType type, int stride) {
  const auto elements = static_cast<std::size_t>(stride);
  if (type == RowType::kInt8) return elements + 2 * ((elements + kBlock - 1) / kBlock);
  return elements * (type == RowType::kF16 ? 2 : 4);
}
// Bytes of a key and its value.
constexpr std::size_t pairBytes(CacheType type, int stride) {
  return rowBytes(keyRows(type), stride) + rowBytes(valueRows(type), stride);
}

const char* cacheTypeName(CacheType type);  // "f16", "f32", "vq8", "q8"
// Error: kInvalidArgument, which names the types there are.
Result<CacheType> cacheTypeByName(std::string_view name);

}  // namespace tandem::kernels
