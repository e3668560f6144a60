// The tokenizer of a model: text to token ids and back, byte for byte.
//
// Made once when a model is loaded and shared by all who use the model; immutable, so any thread may call
// anything. It holds copies of what it needs and does not refer to the file.
//
// Text from people, files and tools is data: no byte of it can become a control token, however it is spelled.
// Control tokens come only from bytes that the chat template wrote (TaggedText), and only where all of a
// token's bytes did. Between two special tokens the text is tokenised as one piece, so origin never splits
// it. User-defined tokens of the vocabulary (runs of newlines, HTML tags) are plain text that happens to have
// ids of its own; they are matched in data too.
//
// decode(encode(text)) == text for every string of bytes, also with NUL bytes and invalid UTF-8: bytes that
// are not valid UTF-8 are spelled one by one. The rules: docs/tokenizer.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"
#include "engine/gguf/file.h"
#include "engine/tokenizer/byte_escape.h"
#include "engine/tokenizer/special_tokens.h"
#include "engine/tokenizer/tagged_text.h"
#include "engine/tokenizer/text_encoder.h"
#include "engine/tokenizer/token_id.h"
#include "engine/tokenizer/vocabulary.h"

namespace tandem {

struct TokenizerOptions {
  std::string preTokenizer;  // replaces the one that the file names; empty: the file's
};

// Whether a BOS token goes before the text.
enum class Bos : std::uint8_t {
  kNone,
  kAsModel,  // where the vocabulary asks for it, and the text does not begin with one of its own
};

// What control tokens look like in decoded text.
enum class ControlText : std::uint8_t { kHidden, kShown };

class Tokenizer {
 public:
  static constexpr std::size_t kMaxTextBytes = std::size_t{1} << 30;

  // Errors: those of Vocabulary::load.
  static Result<std::shared_ptr<const Tokenizer>> load(const gguf::File& file,
                                                       const TokenizerOptions& options = {});

  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  // The ids of plain text; no control token comes out of it, apart from the BOS that `bos` may ask for.
  // Errors: kUnsupported (a vocabulary that cannot tokenise text, or has no token for a byte of it),
  // kInvalidArgument (longer than kMaxTextBytes).
  Result<std::vector<TokenId>> encode(std::string_view text, Bos bos = Bos::kNone) const;

  // The ids of text that a chat template made. Errors: as above.
  Result<std::vector<TokenId>> encode(const TaggedText& text, Bos bos = Bos::kNone) const;

  // The bytes that a token stands for; they need not be whole characters. Control and unknown tokens give
  // their spelling or nothing. An id outside the vocabulary gives nothing.
  std::string_view decode(TokenId id, ControlText control = ControlText::kHidden) const;

  // The bytes of a whole text: those of its tokens with escaped bytes read back, and without the space that
  // encode may have put before the text.
  std::string decode(std::span<const TokenId> ids, ControlText control = ControlText::kHidden) const;

  // Ok when every id is in the vocabulary; else kInvalidArgument that names the first position that is not.
  Status check(std::span<const TokenId> ids) const;

  const Vocabulary& vocabulary() const { return vocabulary_; }
  // How encode writes bytes that the vocabulary lacks.
  const ByteEscape& byteEscape() const { return escape_; }
  std::size_t vocabSize() const { return vocabulary_.size(); }
  // False for a vocabulary that has ids only: encode then always fails.
  bool canEncode() const { return encoder_ != nullptr; }
  // Whether the token ends an answer; vocabulary().endTokens() lists them. False outside the vocabulary.
  bool isEndToken(TokenId id) const;
  // False outside the vocabulary.
  bool isControl(TokenId id) const { return vocabulary_.contains(id) && vocabulary_.isControl(id); }
  TokenId bosId() const { return vocabulary_.bosId(); }
  TokenId eosId() const { return vocabulary_.eosId(); }
  bool addsBos() const { return vocabulary_.addsBos(); }
  // As the file spells it. REQUIRES: vocabulary().contains(id)
  std::string_view tokenText(TokenId id) const { return vocabulary_.text(id); }

 private:
  explicit Tokenizer(Vocabulary vocabulary);
  void appendDecoded(TokenId id);
  // Control and unknown tokens: what decode hides.
  bool isHidden(TokenId id) const;
  template <class IsTemplate>
  Result<std::vector<TokenId>> encodeText(std::string_view text, Bos bos, const IsTemplate& isTemplate) const;
  Status encodeBetween(std::string_view text, std::vector<TokenId>& ids) const;

  Vocabulary vocabulary_;
  SpecialTokens specials_;
  std::unique_ptr<const TextEncoder> encoder_;  // null: ids only
  ByteEscape escape_;
  std::string decoded_;                     // the bytes of all tokens, one after the other
  std::vector<std::size_t> decodedBegins_;  // vocabSize() + 1
};

}  // namespace tandem
