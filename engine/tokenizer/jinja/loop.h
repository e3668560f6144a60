// The `loop` variable of a for loop: where the loop is, looking one item ahead when it is asked to.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/tokenizer/jinja/runtime.h"

namespace tandem::jinja {

struct Loop : Object {
  Value iterable;
  Iterator* iterator = nullptr;
  std::int64_t index0 = -1;
  std::optional<std::int64_t> length;
  Value current, before;
  std::optional<Value> ahead;        // the item already taken by peeking; missing inside when there is none
  std::optional<Value> lastChanged;  // tuple given to changed() last
};

Loop* makeLoop(Runtime& runtime, const Value& iterable);
// Goes to the next item and returns it; missing at the end.
Value advance(Runtime& runtime, Loop& loop);

// loop.NAME, or missing when there is no such attribute.
Value loopAttribute(Runtime& runtime, const Value& loop, std::string_view name);
std::string describe(Runtime& runtime, Loop& loop);

}  // namespace tandem::jinja
