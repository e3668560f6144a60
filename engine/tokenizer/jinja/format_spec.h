// How one value is laid out: Python's format specification ("*^10", "05.1f", ",d") and its printf
// counterpart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/tokenizer/jinja/runtime.h"

namespace tandem::jinja {

struct FormatSpec {
  std::string fill = " ";
  char align = '\0';  // < > ^ or = (between sign and digits); none given: by type
  char sign = '-';
  bool alternate = false;
  bool zero = false;
  char grouping = '\0';  // , or _
  std::int64_t width = 0;
  std::int64_t precision = -1;  // none given
  char type = '\0';
};

// Reads what stands behind the colon of a replacement field.
FormatSpec parseFormatSpec(std::string_view text);

// Lays out a value the way format(value, spec) does; text and its origin come from `value`.
TaggedText formatValue(Runtime& runtime, const Value& value, const FormatSpec& spec);
// Lays out a number or a text that is already written; `numeric` right-aligns by default.
TaggedText padField(Runtime& runtime, const TaggedText& text, const FormatSpec& spec, bool numeric);

// The digits of `value` for spec.type (d x X o b c e E f F g G % or none), with sign and grouping, without
// padding.
std::string formatNumber(const Value& value, const FormatSpec& spec);

}  // namespace tandem::jinja
