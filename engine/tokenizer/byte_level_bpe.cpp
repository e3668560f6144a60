// Byte-level BPE: the pre-tokenizer cuts the text into pieces; in each piece every byte is a symbol at first,
// and neighbours are joined in the order of the vocabulary's list of merges. Bytes, not characters, are what
// is joined, so invalid UTF-8 needs no rule of its own: its bytes come back as they are.
#include <array>
#include <bit>
#include <string>

#include "engine/tokenizer/byte_alphabet.h"
#include "engine/tokenizer/merge_symbols.h"
#include "engine/tokenizer/piece_index.h"
#include "engine/tokenizer/text_encoder.h"

namespace tandem {

namespace {

// From a pair of ids to their merge: an open-addressing hash table.
class MergeTable {
 public:
  explicit MergeTable(std::size_t count) : slots_(std::bit_ceil(2 * count + (count == 0))) {}

  // Of two merges of the same pair the one inserted first, which has the lower rank, is kept.
  void insert(TokenId left, TokenId right, Merge merge) {
    Slot& slot = slots_[slotOf(key(left, right))];
    if (slot.key == kEmpty) slot = {key(left, right), merge};
  }

  std::optional<Merge> find(TokenId left, TokenId right) const {
    const Slot& slot = slots_[slotOf(key(left, right))];
    if (slot.key == kEmpty) return std::nullopt;
    return slot.merge;
  }

 private:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};  // ids are not negative
  struct Slot {
    std::uint64_t key = kEmpty;
    Merge merge = {0, kNoToken};
  };

  static std::uint64_t key(TokenId left, TokenId right) {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
  }

  std::size_t slotOf(std::uint64_t wanted) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = (wanted * 0x9E3779B97F4A7C15u >> 32) & mask;  // multiplicative hashing, upper half
    while (slots_[slot].key != kEmpty && slots_[slot].key != wanted)
      slot = (slot + 1) & mask;
    return slot;
  }

  std::vector<Slot> slots_;
};

class ByteLevelBpeEncoder : public TextEncoder {
 public:
  explicit ByteLevelBpeEncoder(const Vocabulary& vocabulary)
      : preTokenizer_(*vocabulary.preTokenizer()), merges_(vocabulary.merges().size()) {
    std::uint32_t rank = 0;
    for (const BpeMerge& merge : vocabulary.merges()) {
      if (vocabulary.isMergeable(merge.result)) merges_.insert(merge.left, merge.right, {rank, merge.result});
      ++rank;
    }
    indexPieces(vocabulary);
  }

  Status encode(std::string_view text, std::vector<TokenId>& ids) const override {
    MergeScratch scratch;
    std::size_t begin = 0;
    for (const std::size_t end : preTokenizer_.pieceEnds(text)) {
      if (Status status = encodePiece(text.substr(begin, end - begin), scratch, ids); !status) return status;
      begin = end;
    }
    return {};
  }

  std::bitset<256> missingBytes() const override {
    std::bitset<256> missing;
    for (std::size_t byte = 0; byte < byteIds_.size(); ++byte)
      missing[byte] = byteIds_[byte] == kNoToken;
    return missing;
  }

 private:
  // Finds the tokens of single bytes and, where the pre-tokenizer wants it, indexes all pieces by their
  // bytes.
  void indexPieces(const Vocabulary& vocabulary) {
    PieceIndex spellings(vocabulary.size());
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i < vocabulary.size(); ++i) {
      const auto id = static_cast<TokenId>(i);
      const std::string_view spelling = vocabulary.isMergeable(id) ? vocabulary.text(id) : std::string_view();
      if (!spelling.empty()) spellings.insert(spelling, id);
      if (preTokenizer_.wholePieces) {
        appendSpelledBytes(spelling, pieceBytes_);
        ends.push_back(pieceBytes_.size());
      }
    }
    for (unsigned byte = 0; byte < 256; ++byte) {
      byteIds_[byte] = spellings.find(spellByte(static_cast<std::uint8_t>(byte)));
    }
    wholePieces_ = PieceIndex(ends.size());
    std::size_t begin = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (ends[i] > begin) {
        wholePieces_.insert(std::string_view(pieceBytes_).substr(begin, ends[i] - begin),
                            static_cast<TokenId>(i));
      }
      begin = ends[i];
    }
  }

  Status encodePiece(std::string_view piece, MergeScratch& scratch, std::vector<TokenId>& ids) const {
    if (preTokenizer_.wholePieces) {
      if (const TokenId id = wholePieces_.find(piece); id != kNoToken) {
        ids.push_back(id);
        return {};
      }
    }
    scratch.symbols.clear();
    for (std::uint32_t i = 0; i < piece.size(); ++i) {
      const auto byte = static_cast<std::uint8_t>(piece[i]);
      if (byteIds_[byte] == kNoToken) {
        return Error{ErrorCode::kUnsupported,
                     "This model's vocabulary has no token for the byte " + std::to_string(byte) +
                         ", which is in the text; the text cannot be fed to it.",
                     "tokenizer.ggml.tokens"};
      }
      scratch.append(i, 1, byteIds_[byte]);
    }
    mergeSymbols(scratch,
                 [&](const Symbol& left, const Symbol& right) { return merges_.find(left.id, right.id); });
    for (const Symbol& symbol : scratch.symbols) {
      if (symbol.length > 0) ids.push_back(symbol.id);
    }
    return {};
  }

  const PreTokenizer& preTokenizer_;
  MergeTable merges_;
  std::array<TokenId, 256> byteIds_{};
  std::string pieceBytes_;  // what wholePieces_ refers to
  PieceIndex wholePieces_;
};

}  // namespace

std::unique_ptr<const TextEncoder> makeByteLevelBpeEncoder(const Vocabulary& vocabulary) {
  return std::make_unique<ByteLevelBpeEncoder>(vocabulary);
}

}  // namespace tandem
