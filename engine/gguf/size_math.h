// Checked arithmetic for sizes that come from a file. Pure functions, callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "engine/gguf/file.h"

namespace tandem::gguf {

// File sizes are signed in the system's interfaces, so no size of a real tensor or file reaches 2^63.
constexpr std::uint64_t kSizeLimit = std::uint64_t{1} << 63;

// False when the result would be 2^63 or more.
inline bool multiply(std::uint64_t a, std::uint64_t b, std::uint64_t& product) {
  return !__builtin_mul_overflow(a, b, &product) && product < kSizeLimit;
}
inline bool add(std::uint64_t a, std::uint64_t b, std::uint64_t& sum) {
  return !__builtin_add_overflow(a, b, &sum) && sum < kSizeLimit;
}

// The next multiple of `alignment`, a power of two. REQUIRES: value < kSizeLimit
inline std::uint64_t alignUp(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

// Bytes of a tensor of this type and shape; nullopt when there can be no such tensor (unknown type, not 1 to
// 4 dimensions, a dimension of 0, rows that are no whole blocks, 2^63 or more elements or bytes).
inline std::optional<std::uint64_t> tensorBytes(TensorType type, std::span<const std::uint64_t> dims) {
  const BlockInfo block = blockInfo(type);
  if (block.elements == 0 || dims.empty() || dims.size() > kMaxDims || dims[0] % block.elements != 0) {
    return std::nullopt;
  }
  std::uint64_t elements = 1;
  for (const std::uint64_t dim : dims) {
    if (dim == 0 || !multiply(elements, dim, elements)) return std::nullopt;
  }
  std::uint64_t bytes = 0;
  if (!multiply(elements / block.elements, block.bytes, bytes)) return std::nullopt;
  return bytes;
}

}  // namespace tandem::gguf
