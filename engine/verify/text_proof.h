// A file of the cache on disk against the model: what it holds is computed anew, from the text's first token
// on, and compared byte by byte.
#pragma once

#include <atomic>

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

// Errors: those of the file and of Decoder; kInvalidArgument where the file is of another model.
Result<TextProof> proveText(Decoder& decoder, const TextFileReader& file, const std::atomic<bool>* cancel);

}  // namespace tandem
