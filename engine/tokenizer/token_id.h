// The id of one entry of a vocabulary, as every part of the engine passes it.
#pragma once

#include <cstdint>

namespace tandem {

// 0 … vocabSize - 1. kNoToken stands for "this vocabulary has none".
using TokenId = std::int32_t;
inline constexpr TokenId kNoToken = -1;

}  // namespace tandem
