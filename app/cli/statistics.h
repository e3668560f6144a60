// The figures of a generation, as the command line tells them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "engine/session/generation.h"

namespace tandem::cli {

nlohmann::json statisticsJson(const GenerationStats& stats);

// Three lines for standard error: counts and rates, drafting, fingerprint of the logits.
std::string statisticsText(const GenerationStats& stats);

std::string hex64(std::uint64_t value);  // 16 digits

}  // namespace tandem::cli
