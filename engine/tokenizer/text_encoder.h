// From plain text to token ids, one class for each kind of vocabulary. Special tokens have been taken out
// before.
//
// Encoders refer to the Vocabulary, which must outlive them, and are immutable: any thread may call encode.
// They know nothing of origins: the text between two special tokens is one piece, whoever wrote it.
#pragma once

#include <bitset>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/base/status.h"
#include "engine/tokenizer/token_id.h"
#include "engine/tokenizer/vocabulary.h"

namespace tandem {

class TextEncoder {
 public:
  virtual ~TextEncoder() = default;

  // Appends the ids of `text`, whose bytes they spell exactly.
  // REQUIRES: text is not empty and shorter than 2^32 bytes
  // Errors: kUnsupported when the vocabulary has no token for a byte of the text.
  virtual Status encode(std::string_view text, std::vector<TokenId>& ids) const = 0;

  // The bytes for which the vocabulary has no token, where a ByteEscape can help.
  virtual std::bitset<256> missingBytes() const { return {}; }
};

// vocabulary.kind() == kByteLevelBpe
std::unique_ptr<const TextEncoder> makeByteLevelBpeEncoder(const Vocabulary& vocabulary);
// vocabulary.kind() == kSentencePiece
std::unique_ptr<const TextEncoder> makeSentencePieceEncoder(const Vocabulary& vocabulary);

}  // namespace tandem
