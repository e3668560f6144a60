// Values as JSON, as Python's json.dumps writes them.
#pragma once

#include <optional>
#include <string>

#include "engine/tokenizer/jinja/runtime.h"

namespace tandem::jinja {

struct JsonStyle {
  bool ensureAscii = false;
  bool sortKeys = false;
  std::optional<std::string> indent;  // of one level; none writes everything on one line
  std::string itemSeparator = ", ";
  std::string keySeparator = ": ";
};

// Fails for what JSON has no form for (undefined values, functions, iterators, namespaces).
std::string toJson(Runtime& runtime, const Value& value, const JsonStyle& style);

}  // namespace tandem::jinja
