// Hashes by which the caches know texts. A hash finds a candidate and names a text to a person; whether two
// texts are equal is always decided by their tokens.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "engine/tokenizer/token_id.h"

namespace tandem {

using Hash128 = std::array<std::uint64_t, 2>;
Hash128 hashOf(const void* data, std::size_t size);  // XXH3-128: low, high

// Texts are hashed piece by piece (kPiece tokens): the first piece behind the hash of its model's key, each
// further one behind that of the piece before it.
Hash128 textHash(const Hash128& before, std::span<const TokenId> piece);

// 32 hexadecimal digits.
std::string hexadecimal(const Hash128& hash);

}  // namespace tandem
