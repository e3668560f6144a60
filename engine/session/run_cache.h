// What one request takes from the cache of texts, in memory and below it on disk, and leaves there. With a
// null cache it does nothing.
//
// States are kept where the commits of a run cross the grid: a commit is cut there, which changes no bit of
// what it leaves (docs/arithmetic.md, rule 6), so neither prefill chunks nor drafts know of the grid.
// Belongs to the decoder's thread.
#pragma once

#include <span>
#include <vector>

#include "engine/cache/prefix_cache.h"
#include "engine/model/decoder.h"

namespace tandem {

class RunCache {
 public:
  // REQUIRES: the cache, if any, is of the decoder's own sequences and outlives this.
  RunCache(PrefixCache* cache, std::int64_t conversation);
  ~RunCache();
  RunCache(const RunCache&) = delete;
  RunCache& operator=(const RunCache&) = delete;

  // Makes the sequence the longest beginning of the context that is known. REQUIRES: both are what the run
  // starts with.
  void begin(std::span<const TokenId> context, Sequence& sequence);
  // After the context's last token, when all of it was known; else null.
  const StoredLogits& logits() const { return logits_; }

  // Decoder::commit. Error: kOutOfMemory; the sequence then ends at a position of the grid or where it did.
  Status commit(Decoder& decoder, Sequence& sequence, std::span<const int> rows, int part);
  // The context is read; these are the logits after it.
  void contextRead(const Sequence& sequence, std::span<const float> logits);
  // The run is over; the sequence holds the first tokens of this text.
  void end(std::span<const TokenId> text, const Sequence& sequence);

 private:
  void keep(CacheTier tier, const Sequence& sequence, int position, StoredLogits logits = {});

  PrefixCache* cache_;
  std::int64_t conversation_;
  StoredLogits logits_;
  std::vector<CacheMark> marks_;  // on the way of this run
};

}  // namespace tandem
