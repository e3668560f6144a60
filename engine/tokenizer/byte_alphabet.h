// The alphabet in which byte-level BPE vocabularies spell bytes (introduced with GPT-2): printable bytes
// stand for themselves as code points, the other 68 become U+0100, U+0101, … in the order of their values, so
// that no piece contains a space or a control character.
//
// Pure functions; any thread may call them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tandem {

// The spelling of one byte, in UTF-8.
std::string spellByte(std::uint8_t byte);

// Appends the bytes that `spelling` stands for; characters outside the alphabet stand for themselves.
void appendSpelledBytes(std::string_view spelling, std::string& out);

}  // namespace tandem
