// How an agent's turn is sampled: as asked, or with the settings that the model's makers recommend
// (docs/loop-escape.md). Any thread may call.
#pragma once

#include <cstdint>
#include <optional>

#include "app/service/engine_backend.h"
#include "engine/gguf/file.h"

namespace tandem::service {

// The file's general.sampling.temp, top_k, top_p and min_p. What the file does not say, or says outside the
// range that docs/sampling.md allows, is Regenerate's: temperature 0.7, top_k 20, top_p 0.95, min_p 0. A
// recommended temperature of 0 counts as not said, for greedy decoding leads out of no loop.
SamplingParams recommendedSampling(const gguf::File& file);

// What the service chooses for `request` in place of its own sampling; nullopt: the request's own stays.
// Penalties, biases and log probabilities are the request's, the seed is `seed`. A turn that is continued
// (answerSoFar) keeps its own sampling.
std::optional<ChosenSampling> chooseSampling(const GenerateRequest& request,
                                             const SamplingParams& recommended, std::uint64_t seed);

}  // namespace tandem::service
