// The request's JSON as template values. All of it is data.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "engine/tokenizer/jinja/runtime.h"

namespace tandem::jinja {

// Objects keep the order of their keys. Integers beyond 63 bits become floats. Fails when it is nested too
// deeply.
Value fromJson(Runtime& runtime, const nlohmann::ordered_json& json);

// What a request counts for in the budget: the bytes of its texts and 64 for every value.
std::uint64_t sizeOf(const nlohmann::ordered_json& json);

}  // namespace tandem::jinja
