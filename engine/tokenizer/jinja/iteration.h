// Going over values: truth, length, and one item after another.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/tokenizer/jinja/runtime.h"

namespace tandem::jinja {

// Python's bool(value).
bool truthy(const Value& value);

// Python's len(value), or nothing when it has none.
std::optional<std::int64_t> lengthOf(const Value& value);
// The same; fails when it has none.
std::int64_t requireLength(const Value& value);

bool isIterable(const Value& value);
// Python's iter(value): a fresh iterator, or the iterator itself. Fails for what cannot be iterated.
Iterator& iterate(Runtime& runtime, const Value& value);
// The next item, missing at the end. Charges one unit; a chain of iterators counts as nesting.
Value next(Runtime& runtime, Iterator& iterator);
// All (remaining) items.
std::vector<Value> collect(Runtime& runtime, const Value& value);

// The item at `index`, which must lie inside.
Value itemAt(Runtime& runtime, const Value& sequence, std::int64_t index);
// Python's reversed(value) as an iterator value, or missing when it cannot be reversed.
Value reversed(Runtime& runtime, const Value& value);

// One character of a string, by character index inside it.
Value characterAt(Runtime& runtime, const String& string, std::int64_t index);

}  // namespace tandem::jinja
