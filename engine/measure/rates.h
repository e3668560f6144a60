// How fast a model runs, measured: reading a prompt, decoding plainly behind a context, and the layers'
// matrix products alone. Times are milliseconds, one per run.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "engine/model/decoder.h"

namespace tandem::measure {

// Token ids that look random and are the same everywhere: of a vocabulary of this size.
std::vector<TokenId> fixedTokens(int count, int vocabulary);

struct PrefillTimes {
  std::vector<double> read;        // until the logits behind the prompt are there
  std::vector<double> firstToken;  // and the first token is chosen from them, greedily
};
// Reads `prompt` into a new sequence, `runs` times. Errors: those of Decoder::read. REQUIRES: the prompt is
// not empty and lies in the vocabulary.
Result<PrefillTimes> timePrefill(Decoder& decoder, std::span<const TokenId> prompt, int runs,
                                 const std::atomic<bool>* cancel = nullptr);

// Decodes `tokens` tokens greedily behind `context`, one a pass, `runs` times; end tokens do not end it. The
// pass before the first of them is not timed. Errors and requirements: as above.
Result<std::vector<double>> timeDecode(Decoder& decoder, std::span<const TokenId> context, int tokens,
                                       int runs, const std::atomic<bool>* cancel = nullptr);

// Answers of `tokens` tokens to as many different prompts at once as each of `counts` says, plain and
// greedily, past end tokens; the prompts have `promptTokens` tokens and are read in that time too.
// Milliseconds per count and run; the counts take turns. Errors: those of Decoder::forward. REQUIRES: counts
// of 1 to Slots::kMost.
Result<std::vector<std::vector<double>>> timeTogether(Decoder& decoder, std::span<const int> counts,
                                                      int promptTokens, int tokens, int runs,
                                                      const std::atomic<bool>* cancel = nullptr);

// The products of all layers' matrices with `rows` rows, alone: no attention, no head, rows quantised before.
std::vector<double> timeProducts(const Model& model, const kernels::KernelSet& kernels, int threads, int rows,
                                 int runs, const std::atomic<bool>* cancel = nullptr);

}  // namespace tandem::measure
