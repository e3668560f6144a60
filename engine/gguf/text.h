// How the reader's messages show what stands in a file: names that may hold anything, and numbers a person
// can read. Pure functions, callable from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tandem::gguf {

// Whether `text` is UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
bool isUtf8(std::string_view text);

// `name` for a message: control characters (and all bytes above 0x7f, when it is not UTF-8) become '?', and
// what is longer than 80 bytes is cut at a character and ends in "…".
std::string shown(std::string_view name);

// 98362432 -> "98,362,432".
std::string grouped(std::uint64_t number);

// 1 -> "1 byte", 4096 -> "4,096 bytes".
std::string bytesText(std::uint64_t count);

}  // namespace tandem::gguf
