// The filters, tests and global functions that templates can name.
#pragma once

#include <string_view>

#include "engine/tokenizer/jinja/runtime.h"

namespace tandem::jinja {

// nullptr when there is no such filter or test. Tests give a bool.
NativeCall findFilter(std::string_view name);
NativeCall findTest(std::string_view name);
// range, namespace, dict, cycler, joiner, raise_exception, strftime_now; missing when there is no such
// function.
Value findGlobal(Runtime& runtime, std::string_view name);

// The tables behind findFilter, by subject.
NativeCall findTextFilter(std::string_view name);
NativeCall findSequenceFilter(std::string_view name);
NativeCall findSelectionFilter(std::string_view name);
NativeCall findNumberFilter(std::string_view name);

}  // namespace tandem::jinja
