// How values print: Python's str() and repr().
#pragma once

#include <string>

#include "engine/tokenizer/jinja/runtime.h"

namespace tandem::jinja {

// str(value). A string is itself, origins and all; a scalar has its own origin; what is written about any
// other value is data.
TaggedText toText(Runtime& runtime, const Value& value);
// The same as a string value; a string comes back as it is.
Value toString(Runtime& runtime, const Value& value);

// repr(value).
std::string repr(Runtime& runtime, const Value& value);

// Shortest decimal that reads back as `number`, as Python's repr(float) writes it.
std::string formatFloat(double number);

// For HTML: & < > ' " as entities, each with the origin of its character.
TaggedText escapeHtml(const TaggedText& text);
// `value` as text that is safe in HTML: Markup as it is, anything else escaped.
Value toMarkup(Runtime& runtime, const Value& value);

}  // namespace tandem::jinja
