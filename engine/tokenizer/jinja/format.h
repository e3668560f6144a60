// The two ways of filling in a format string: "%s" % value and "{}".format(value).
//
// Bytes of the format keep their origin, an argument's text brings its own, padding is data.
#pragma once

#include "engine/tokenizer/jinja/runtime.h"

namespace tandem::jinja {

// format % right: a tuple gives several values, a dictionary gives named ones, anything else is the one
// value.
Value percentFormat(Runtime& runtime, const String& format, const Value& right);

// format.format(...).
Value braceFormat(Runtime& runtime, const String& format, const Arguments& arguments);

}  // namespace tandem::jinja
