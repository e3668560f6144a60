// The tiny random models that other tests load: made from the recipes in tests/data/tiny-models by a formula,
// so that no weights lie in the repository. Any thread may call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"

namespace tandem::test {

// The recipes in tests/data/tiny-models that can be run: one per architecture, and hybrids with more value
// heads than key heads and a RoPE over a part of each head.
inline constexpr const char* kTinyModels[] = {"llama",       "gemma2",        "gemma3", "qwen3",
                                              "qwen3moe",    "qwen3next",     "qwen35", "qwen35moe",
                                              "qwen35-wide", "qwen3next-wide"};

// Writes the model of a recipe (tests/data/tiny-models/NAME.json) to `outPath`. The recorded logits belong to
// seed 1.
Status writeTinyModel(const std::string& recipePath, const std::string& outPath, std::uint64_t seed = 1);

// The weights of a tensor, in file order. For element i of tensor NAME, in wrapping 64-bit arithmetic:
//   x = splitmix64(fnv1a64(NAME) + seed * 0x9E3779B97F4A7C15 + i)
//   w = bf16(0.17320508 * ((x >> 40) / 2^23 - 1))              in fp32, rounded to the nearest BF16 (half to
//   even)
// and by the name: contains "norm" and ends in ".weight": 1 + w; starts with rope_freqs or rope_factors: 1 +
// 4|w|; ends in ssm_a: -(0.5 + 10|w|); contains ssm_dt, ssm_alpha, ssm_beta or ssm_ba: 3w; contains sinks:
// 10w; else w.
std::vector<float> tinyWeights(std::string_view tensorName, std::uint64_t count, std::uint64_t seed);

}  // namespace tandem::test
