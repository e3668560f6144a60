// What a quantised cache does to the text: how far it moves the probabilities of the next token.
#pragma once

#include <atomic>
#include <span>

#include "engine/model/decoder.h"

namespace tandem {

// The mean distance that a cache may have, and that one of one bit must not keep.
inline constexpr double kMostVariation = 0.05;

// The mean, over the places of a text, of the total-variation distance between the probabilities of the next
// token by either decoder: half the sum of the absolute differences, 0 to 1. `cancel` may be null. Errors:
// those of Decoder. REQUIRES: the decoders are of one model; the text is not empty and fits its context.
Result<double> meanVariation(Decoder& one, Decoder& other, std::span<const TokenId> text,
                             const std::atomic<bool>* cancel);

// The set with an int8 cache that keeps one bit of each number: plus or minus the mean magnitude of its
// block. For the proof that the bound can fail; nobody computes an answer with it.
kernels::KernelSet withOneBitRows(const kernels::KernelSet& set);

}  // namespace tandem
