// Whether a text goes round in circles. A model that repeats itself is easy to draft for, so a measurement of
// speculation leaves such answers out.
#pragma once

#include <span>

#include "engine/tokenizer/token_id.h"

namespace tandem::measure {

inline constexpr int kRepeatLength = 16;  // tokens
inline constexpr int kMostRepeats = 2;

// How often the most frequent sequence of `length` tokens occurs; overlapping ones count. 0: the text is
// shorter.
int mostOccurrences(std::span<const TokenId> text, int length);

// Whether some kRepeatLength tokens occur more than kMostRepeats times.
bool repeatsItself(std::span<const TokenId> text);

}  // namespace tandem::measure
