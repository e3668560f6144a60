#include "engine/cache/text_hash.h"

#include <xxhash.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace tandem {

Hash128 hashOf(const void* data, std::size_t size) {
  const XXH128_hash_t hash = XXH3_128bits(data, size);
  return {hash.low64, hash.high64};
}

Hash128 textHash(const Hash128& before, std::span<const TokenId> piece) {
  std::vector<std::byte> bytes(sizeof before + piece.size_bytes());
  std::memcpy(bytes.data(), before.data(), sizeof before);
  if (!piece.empty()) std::memcpy(bytes.data() + sizeof before, piece.data(), piece.size_bytes());
  return hashOf(bytes.data(), bytes.size());
}

std::string hexadecimal(const Hash128& hash) {
  char digits[33];
  std::snprintf(digits, sizeof digits, "%016llx%016llx", static_cast<unsigned long long>(hash[1]),
                static_cast<unsigned long long>(hash[0]));
  return digits;
}

}  // namespace tandem
