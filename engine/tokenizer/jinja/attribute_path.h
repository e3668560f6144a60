// How filters name a part of each item: attribute="function.name", "0.text", or a number.
#pragma once

#include <vector>

#include "engine/tokenizer/jinja/runtime.h"

namespace tandem::jinja {

class AttributePath {
 public:
  // A missing or none `attribute` means the item itself. An undefined part becomes `fallback` unless that is
  // missing.
  AttributePath(Runtime& runtime, const Value& attribute, const Value& fallback = {});

  Value of(Runtime& runtime, const Value& item) const;

  // For a list of paths: "name,size".
  static std::vector<AttributePath> several(Runtime& runtime, const Value& attribute);

 private:
  std::vector<Value> parts_;
  Value fallback_;
};

// A text in lower case; anything else as it is.
Value ignoreCase(Runtime& runtime, const Value& value);

}  // namespace tandem::jinja
