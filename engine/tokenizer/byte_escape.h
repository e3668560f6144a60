// A way to write bytes for which a byte-level vocabulary has no token (SmolLM2 has none for 21 of the 256),
// so that every text can be tokenised and comes back byte for byte.
//
// Such a byte is written as two of Unicode's noncharacters U+FDD0 … U+FDDF, which exist for a program's own
// use: the upper four bits, then the lower four. Where the text itself has one of these noncharacters, its
// first byte is written that way too, so that what is read back is never mistaken. A vocabulary that has all
// bytes needs none of this, and then nothing is changed.
//
// Immutable; any thread may call.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>

namespace tandem {

class ByteEscape {
 public:
  // `missing`: the bytes for which there is no token. If one of those is needed to write the noncharacters,
  // nothing can be escaped and text is left as it is.
  explicit ByteEscape(const std::bitset<256>& missing);

  // Whether this vocabulary needs it.
  bool isActive() const { return active_; }

  // The text in bytes that all have a token.
  std::string escape(std::string_view text) const;

  // Undoes escape for text that arrives in parts: moves from the front of `pending` to the end of `out` all
  // that is settled, and leaves what may be the beginning of an escaped byte (at most 5 bytes). With `last`
  // nothing is left.
  void unescape(std::string& pending, std::string& out, bool last) const;

 private:
  std::bitset<256> missing_;
  bool active_ = false;
};

}  // namespace tandem
