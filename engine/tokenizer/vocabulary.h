// A model's vocabulary as its file gives it: the pieces with their types, scores or merges, and the special
// tokens.
//
// Vocabulary::load checks everything before it is used: after it has succeeded every array is as long as the
// list of pieces, every id lies inside it, and every merge names pieces that exist. It copies what it needs
// and does not refer to the file afterwards. Immutable after load; any thread may read it.
//
// The metadata keys, and what is refused: docs/tokenizer.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"
#include "engine/gguf/file.h"
#include "engine/tokenizer/pre_tokenizer.h"
#include "engine/tokenizer/token_id.h"

namespace tandem {

enum class TokenizerKind : std::uint8_t {
  kByteLevelBpe,   // tokenizer.ggml.model = gpt2
  kSentencePiece,  // tokenizer.ggml.model = llama
  kIdsOnly,        // tokenizer.ggml.model = test: a stand-in that cannot tokenise text
};

// Numbered as in tokenizer.ggml.token_type.
enum class TokenType : std::uint8_t {
  kUndefined = 0,
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6,
};

// A token that ends an answer, and why it is taken for one: "tokenizer.ggml.eos_token_id" or "spelled
// <|im_end|>".
struct EndToken {
  TokenId id;
  std::string text;
  std::string why;
};

// The pieces `left` and `right` become `result`. Merges are kept in the order of the file, which is their
// rank.
struct BpeMerge {
  TokenId left;
  TokenId right;
  TokenId result;
};

class Vocabulary {
 public:
  // `preTokenizer`, when not empty, is used in place of the one that the file names.
  // Errors: kCorruptFile, kUnsupported; `field` is the metadata key.
  static Result<Vocabulary> load(const gguf::File& file, std::string_view preTokenizer = {});

  TokenizerKind kind() const { return kind_; }
  std::size_t size() const { return types_.size(); }
  bool contains(TokenId id) const { return id >= 0 && static_cast<std::size_t>(id) < size(); }

  // The text of the entry as the file spells it. REQUIRES: contains(id)
  std::string_view text(TokenId id) const;
  // REQUIRES: contains(id)
  TokenType type(TokenId id) const { return types_[static_cast<std::size_t>(id)]; }
  // Control tokens never come from data and are not shown. REQUIRES: contains(id)
  bool isControl(TokenId id) const { return type(id) == TokenType::kControl; }
  // Whether merging may produce the entry: it is text, not a marker or a stand-in for a byte. REQUIRES:
  // contains(id)
  bool isMergeable(TokenId id) const;
  // The byte that an entry of type kByte stands for. REQUIRES: type(id) == TokenType::kByte
  std::uint8_t byteValue(TokenId id) const;

  // One for each piece; SentencePiece vocabularies always have them, others may have none.
  const std::vector<float>& scores() const { return scores_; }
  // Byte-level BPE only.
  const std::vector<BpeMerge>& merges() const { return merges_; }
  // Byte-level BPE only, else nullptr. Points into a table that lives as long as the program.
  const PreTokenizer* preTokenizer() const { return preTokenizer_; }

  // kNoToken where the file names none.
  TokenId bosId() const { return bosId_; }
  TokenId eosId() const { return eosId_; }
  // Whether a prompt starts with BOS.
  bool addsBos() const { return addsBos_; }
  // SentencePiece only: whether a space is put before the text.
  bool addsSpacePrefix() const { return addsSpacePrefix_; }
  // In ascending order of ids.
  const std::vector<EndToken>& endTokens() const { return endTokens_; }

 private:
  Vocabulary() = default;
  Status loadPieces(const gguf::File& file);
  Status loadTypes(const gguf::File& file);
  Status loadScores(const gguf::File& file);
  Status loadMerges(const gguf::File& file);
  Status choosePreTokenizer(const gguf::File& file, std::string_view wanted);
  Status loadSpecialIds(const gguf::File& file);
  Status loadFlags(const gguf::File& file);
  void collectEndTokens();

  TokenizerKind kind_ = TokenizerKind::kIdsOnly;
  std::string texts_;                    // of all pieces, one after the other
  std::vector<std::size_t> textBegins_;  // size() + 1
  std::vector<TokenType> types_;
  std::vector<float> scores_;
  std::vector<BpeMerge> merges_;
  const PreTokenizer* preTokenizer_ = nullptr;
  TokenId bosId_ = kNoToken;
  TokenId eosId_ = kNoToken;
  TokenId eotId_ = kNoToken;
  TokenId eomId_ = kNoToken;
  bool addsBos_ = false;
  bool addsSpacePrefix_ = false;
  std::vector<EndToken> endTokens_;
};

}  // namespace tandem
