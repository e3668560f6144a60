// The logits of a text's positions, a few rows at a time: what `logits` and `ppl` share.
#pragma once

#include <functional>
#include <span>

#include "engine/model/decoder.h"

namespace tandem::cli {

// Rows whose logits one pass computes: they are kept in memory together.
inline constexpr int kLogitRows = 64;

// The logits of one position: (vocabulary) fp32, valid during the call. An error ends the run.
using LogitsSink = std::function<Status(int position, std::span<const float> logits)>;

// Reads `tokens` from an empty sequence in passes of at most `rows` rows and gives the logits of the
// positions from `first` on, in order. Rows before `first` go in passes as large as the decoder takes.
// Errors: those of Decoder::forward, and of the sink. REQUIRES: the tokens are in the vocabulary; 1 <= rows
// <= kLogitRows.
Status logitsOf(Decoder& decoder, std::span<const TokenId> tokens, int first, int rows,
                const LogitsSink& sink);

}  // namespace tandem::cli
