// What the cache keeps of a text, in memory or in a file, against the model: it is computed anew, from the
// text's first token on, and compared byte by byte.
#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "engine/cache/prefix_cache.h"
#include "engine/cache/text_file.h"
#include "engine/model/decoder.h"

namespace tandem {

struct ColdRead {
  Sequence sequence;
  std::vector<float> logits;  // after the last token
};

// Reads a text without any cache. `cancel` may be null. Errors: those of Decoder.
// REQUIRES: not empty; tokens lie in the vocabulary.
Result<ColdRead> readCold(Decoder& decoder, std::span<const TokenId> text, const std::atomic<bool>* cancel);

struct TextProof {
  std::uint64_t bytes = 0;      // compared
  std::uint64_t differing = 0;  // of them
};

// A proof in steps, between which others may use the decoder. Belongs to the decoder's thread.
class TextProver {
 public:
  // Errors: kInvalidArgument where the file is of another model; kCorruptFile.
  static Result<TextProver> of(Decoder& decoder, TextFileReader file);
  // Of an entry of the decoder's own cache: keys and values of all its tokens, and its mark.
  static TextProver of(Decoder& decoder, HeldText held);

  int total() const { return static_cast<int>(text_.size()); }  // tokens to be read
  int read() const { return static_cast<int>(read_); }          // of them
  bool done() const { return block_ == blocks_; }
  const TextProof& proof() const { return proof_; }

  // Reads the next tokens, at most `rows`, or compares the next block (a page, or a mark's). `cancel` may be
  // null. Errors: those of the file and of Decoder. REQUIRES: !done(), rows > 0.
  Status step(int rows, const std::atomic<bool>* cancel);

 private:
  TextProver(Decoder& decoder, std::vector<TokenId> text)
      : decoder_(&decoder), text_(std::move(text)), cold_{decoder.newSequence(), {}} {}
  std::vector<std::byte> coldBlock() const;
  Result<std::vector<std::byte>> keptBlock() const;

  Decoder* decoder_;
  std::vector<TokenId> text_;
  ColdRead cold_;
  std::size_t read_ = 0;
  std::optional<TextFileReader> file_;  // one of the two
  std::optional<HeldText> held_;
  int block_ = 0, blocks_ = 0;  // compared, of all
  TextProof proof_;
};

// The proof of a file in one go; where bytes differ before an error, of what was compared until then. Errors:
// as TextProver.
Result<TextProof> proveText(Decoder& decoder, TextFileReader file, const std::atomic<bool>* cancel);

}  // namespace tandem
