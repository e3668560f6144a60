// SentencePiece BPE: spaces are written as U+2581, every character is a symbol at first, and those neighbours
// are joined whose joined text is the piece with the highest score. What is no piece in the end is spelled in
// byte tokens.
//
// Our own rule for what SentencePiece would not give back byte for byte: a byte that is not part of valid
// UTF-8, and a U+2581 that is in the text itself (it would come back as a space), stay out of the merging and
// become byte tokens.
#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <string>

#include "engine/tokenizer/merge_symbols.h"
#include "engine/tokenizer/piece_index.h"
#include "engine/tokenizer/text_encoder.h"
#include "engine/tokenizer/utf8.h"

namespace tandem {

namespace {

constexpr std::string_view kSpace = "\xE2\x96\x81";  // U+2581
constexpr char32_t kSpaceCode = 0x2581;
constexpr TokenId kApart = -2;  // the id of a symbol that takes no part in the merging

// A number that is lower the higher the score is, and equal for equal scores: the bits of a float, with their
// order made that of unsigned numbers and then reversed.
std::uint32_t rankOfScore(float score) {
  const auto bits = std::bit_cast<std::uint32_t>(score + 0.0F);  // -0 becomes +0
  const std::uint32_t ascending = bits & 0x80000000U ? ~bits : bits | 0x80000000U;
  return ~ascending;
}

class SentencePieceEncoder : public TextEncoder {
 public:
  explicit SentencePieceEncoder(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary), pieces_(vocabulary.size()) {
    byteIds_.fill(kNoToken);
    for (std::size_t i = 0; i < vocabulary.size(); ++i) {
      const auto id = static_cast<TokenId>(i);
      if (vocabulary.type(id) == TokenType::kByte) {
        byteIds_[vocabulary.byteValue(id)] = id;
      } else if (vocabulary.isMergeable(id)) {
        pieces_.insert(vocabulary.text(id), id);
        noteJoinedSpaces(vocabulary.text(id));
        longestPiece_ = std::max(longestPiece_, vocabulary.text(id).size());
      }
    }
  }

  Status encode(std::string_view text, std::vector<TokenId>& ids) const override {
    Chunk chunk;
    for (std::size_t position = 0; position < text.size();) {
      if (text[position] == ' ') {
        // No piece joins what ends here with a space, so merging cannot cross this point.
        if (!chunk.text.empty() && !joinsSpace_[static_cast<unsigned char>(chunk.text.back())]) {
          if (Status status = flush(chunk, ids); !status) return status;
        }
        chunk.append(kSpace, pieces_.find(kSpace));
        position += 1;
        continue;
      }
      const Utf8Char c = readUtf8(text, position);
      const bool plain = c.status == Utf8Status::kValid && c.code != kSpaceCode;
      const std::string_view bytes = text.substr(position, c.status == Utf8Status::kValid ? c.length : 1);
      chunk.append(bytes, plain ? pieces_.find(bytes) : kApart);
      position += bytes.size();
    }
    return flush(chunk, ids);
  }

 private:
  // The symbols that are to be merged next, and the text that they refer to.
  struct Chunk {
    std::string text;
    MergeScratch scratch;

    void append(std::string_view bytes, TokenId id) {
      scratch.append(static_cast<std::uint32_t>(text.size()), static_cast<std::uint32_t>(bytes.size()), id);
      text.append(bytes);
    }
  };

  // Notes the bytes that stand before a space inside `piece`.
  void noteJoinedSpaces(std::string_view piece) {
    for (std::size_t at = piece.find(kSpace, 1); at != std::string_view::npos;
         at = piece.find(kSpace, at + 1)) {
      joinsSpace_.set(static_cast<unsigned char>(piece[at - 1]));
    }
  }

  // Merges the chunk, appends its ids and empties it.
  Status flush(Chunk& chunk, std::vector<TokenId>& ids) const {
    const std::string_view text = chunk.text;
    const auto findMerge = [&](const Symbol& left, const Symbol& right) -> std::optional<Merge> {
      const std::size_t length = left.length + right.length;
      if (length > longestPiece_ || left.id == kApart || right.id == kApart) return std::nullopt;
      const TokenId id = pieces_.find(text.substr(left.begin, length));
      if (id == kNoToken) return std::nullopt;
      return Merge{rankOfScore(vocabulary_.scores()[static_cast<std::size_t>(id)]), id};
    };
    mergeSymbols(chunk.scratch, findMerge);
    for (const Symbol& symbol : chunk.scratch.symbols) {
      if (symbol.length == 0) continue;
      if (symbol.id >= 0) {
        ids.push_back(symbol.id);
        continue;
      }
      const std::string_view bytes = text.substr(symbol.begin, symbol.length);
      const bool isOurSpace = symbol.id != kApart && bytes == kSpace;
      if (Status status = appendBytes(isOurSpace ? " " : bytes, ids); !status) return status;
    }
    chunk.text.clear();
    chunk.scratch.symbols.clear();
    return {};
  }

  Status appendBytes(std::string_view bytes, std::vector<TokenId>& ids) const {
    for (const char c : bytes) {
      const TokenId id = byteIds_[static_cast<unsigned char>(c)];
      if (id == kNoToken) {
        return Error{ErrorCode::kUnsupported,
                     "This model's vocabulary has no token for the byte " +
                         std::to_string(static_cast<unsigned char>(c)) +
                         ", which is in the text; the text cannot be fed to it.",
                     "tokenizer.ggml.tokens"};
      }
      ids.push_back(id);
    }
    return {};
  }

  const Vocabulary& vocabulary_;
  PieceIndex pieces_;
  std::array<TokenId, 256> byteIds_{};
  std::bitset<256> joinsSpace_;  // last bytes of what some piece joins with a space
  std::size_t longestPiece_ = 0;
};

}  // namespace

std::unique_ptr<const TextEncoder> makeSentencePieceEncoder(const Vocabulary& vocabulary) {
  return std::make_unique<SentencePieceEncoder>(vocabulary);
}

}  // namespace tandem
