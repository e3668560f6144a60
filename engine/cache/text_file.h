// The bytes of a file of the cache on disk: the keys and values of up to 1,024 positions of a text, or the
// mark at one position, with all the tokens before, and a checksum over every byte. docs/cache-format.md
// describes it.
//
// A file is written under a temporary name, synced and renamed, and never changed after. Read, nothing is
// believed before it is checked: what is short, damaged, or of another model or arithmetic is an Error whose
// sentence says so. Plain functions and a reader; each reader belongs to one thread but for readBlock().
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/cache/file_ops.h"
#include "engine/cache/sequence.h"
#include "engine/cache/text_hash.h"
#include "engine/kernels/arithmetic.h"
#include "engine/tokenizer/token_id.h"

namespace tandem {

inline constexpr int kPiecePages = 16;
inline constexpr int kPiece = kPiecePages * kernels::kTile;  // positions of a file of pages
inline constexpr int kMostTokens = 1 << 24;                  // of a text on disk

// What a decoder and a file must have in common: equal keys, and the same tokens leave the same bytes.
struct TextFileKey {
  std::array<char, 32> fingerprint = {};  // of the model file's bytes, hexadecimal
  std::uint32_t arithmetic = 0;           // kernels::kArithmeticVersion
  std::uint32_t profile = 0;              // 0: portable
  std::uint32_t cacheType = 0;            // as kernels::CacheType
  std::uint32_t layers = 0, kvHeads = 0, stride = 0;
  std::uint32_t stateLayers = 0, channels = 0, tail = 0, valueHeads = 0, headDim = 0;
  std::uint32_t hidden = 0;  // floats of Sequence::hidden
  std::uint32_t vocabulary = 0;
  std::uint32_t flags = 0;
  bool operator==(const TextFileKey&) const = default;

  // The key of a decoder that makes such sequences.
  static TextFileKey of(const std::string& fingerprint, const Sequence& empty, int vocabulary);
  std::string name() const;  // 32 hexadecimal digits, their XXH3-128
};
static_assert(sizeof(TextFileKey) == 88);

enum class TextFileKind : std::uint32_t { kPages = 0, kMark = 1 };

// All that a file says but its payload. Of pages the payload is page after page, the last with its rows
// alone; of a mark the state, the hidden state and the logits.
struct TextFileHead {
  TextFileKey key;
  TextFileKind kind = TextFileKind::kPages;
  std::uint32_t tier = 0;  // of a mark, as CacheTier
  int start = 0, end = 0;  // positions; a mark is behind `end` tokens, in the piece that begins at `start`
  std::int64_t conversation = 0;     // that it was written for
  bool logits = false;               // of a mark: whether it has them
  std::vector<TokenId> tokens = {};  // (end), from the beginning of the text

  std::size_t payloadBytes() const;
  std::size_t blockBytes() const;  // of all blocks but the last
  int blocks() const { return static_cast<int>((payloadBytes() + blockBytes() - 1) / blockBytes()); }
  std::size_t sizeOf(int block) const {
    return std::min(blockBytes(), payloadBytes() - block * blockBytes());
  }
  std::uint64_t fileBytes() const;
};

// The first position of the piece that holds a mark, or a page's row, before position `end`.
constexpr int pieceStart(int end) {
  return (end - 1) / kPiece * kPiece;
}

// Writes head and payload to `folder`/`name`. `blocks` are the payload's, of the head's sizes; `pause` is
// called between parts of at most a mebibyte, and may end the writing by false. On failure nothing is left
// but perhaps a temporary file. Errors: kIo, its `offset` the errno; kCancelled.
Status writeTextFile(FileOps& ops, const std::string& folder, const std::string& name,
                     const TextFileHead& head, std::span<const std::span<const std::byte>> blocks,
                     const std::function<bool()>& pause);
inline constexpr const char* kTemporaryText = ".partial";  // ends the names of temporary files

class TextFileReader {
 public:
  // Opens and checks all but the payload. Errors: kNotFound (no such file), kCorruptFile (short, longer than
  // it says, damaged), kUnsupported (another format), kIo, each with a reason.
  static Result<TextFileReader> open(const std::string& path);
  ~TextFileReader();
  TextFileReader(TextFileReader&& other) noexcept;
  TextFileReader& operator=(TextFileReader&&) = delete;

  const TextFileHead& head() const { return head_; }
  // Why a decoder of this key can't use the file; empty: it can.
  std::string foreign(const TextFileKey& key) const;
  // Reads block i and compares its checksum; `check` is off in tests that plant this fault. Any thread.
  // Errors: kCorruptFile, kIo. REQUIRES: out.size() == head().sizeOf(i)
  Status readBlock(int i, std::span<std::byte> out, bool check = true) const;

 private:
  explicit TextFileReader(int descriptor) : descriptor_(descriptor) {}
  Status readHead();

  int descriptor_;
  std::uint64_t payload_ = 0;  // where it begins
  TextFileHead head_;
  std::vector<Hash128> table_;  // of the blocks
};

// The rows of a page that is not full, head after head, without the room behind them; and back. `rows`: 1
// to kTile.
std::vector<std::byte> packedPage(const KvLayout& layout, const std::byte* page, int rows);
void unpackPage(const KvLayout& layout, std::span<const std::byte> packed, int rows, std::byte* page);

}  // namespace tandem
