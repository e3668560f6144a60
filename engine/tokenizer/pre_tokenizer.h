// Pre-tokenizers: how text is cut into pieces before byte-level BPE merges inside each piece.
//
// A vocabulary names its pre-tokenizer (tokenizer.ggml.pre). Each one is published as a list of regular
// expressions; here each expression is a small hand-written scanner over character classes, so that any text
// is cut in linear time with a bounded stack. A pre-tokenizer is a row of a table in pre_tokenizer.cpp: a
// name and its scanners in order. Each scanner cuts the pieces that the one before it left.
//
// Bytes that are not valid UTF-8 count as one character each, of no class. Character classes come from
// utf8proc. Immutable; any thread may call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

enum class CharClass : std::uint8_t { kLetter, kMark, kNumber, kPunctuation, kSymbol, kSpace, kOther, kEnd };

struct PreTokenizerChar {
  char32_t code;         // the code point; U+FFFD for a byte that is not valid UTF-8
  std::uint32_t offset;  // in bytes
  CharClass charClass;
};

// The characters of one piece, as a scanner sees them: past the end everything is of class kEnd.
class PreTokenizerPiece {
 public:
  PreTokenizerPiece(std::span<const PreTokenizerChar> chars) : chars_(chars) {}
  std::size_t size() const { return chars_.size(); }
  CharClass classAt(std::size_t i) const { return i < chars_.size() ? chars_[i].charClass : CharClass::kEnd; }
  char32_t codeAt(std::size_t i) const { return i < chars_.size() ? chars_[i].code : 0; }

 private:
  std::span<const PreTokenizerChar> chars_;
};

// Given where a piece begins, a scanner returns where it ends; the result is larger than `begin`.
using PreTokenizerScanner = std::size_t (*)(const PreTokenizerPiece& piece, std::size_t begin);

struct PreTokenizer {
  static constexpr std::size_t kMaxScanners = 4;

  std::string_view name;                       // as tokenizer.ggml.pre spells it
  PreTokenizerScanner scanners[kMaxScanners];  // in order; unused ones are null
  bool wholePieces;  // a piece that is an entry of the vocabulary as it stands is taken without merging
  bool addsBos;      // whether BOS is added where the file does not say

  // Where each piece of `text` ends, in bytes, ascending; the last one is text.size().
  // REQUIRES: text.size() < 2^32
  std::vector<std::uint32_t> pieceEnds(std::string_view text) const;
};

// The pre-tokenizer of that name, or nullptr.
const PreTokenizer* findPreTokenizer(std::string_view name);

// All names, separated by ", ", for messages.
std::string preTokenizerNames();

}  // namespace tandem
