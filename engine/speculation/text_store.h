// Earlier texts that a drafter may look in. The engine sees this interface only; storage/ keeps them on disk.
#pragma once

#include <mutex>
#include <span>
#include <vector>

#include "engine/speculation/suffix_index.h"

namespace tandem {

// Token ids mean something within one vocabulary only: a TextStore is one vocabulary's.
class TextStore {
 public:
  virtual ~TextStore() = default;
  // At most `most` places where the last tokens of `context` stood in an earlier text, best first, each with
  // up to `length` tokens that followed. A store that cannot be read finds nothing. Called by the thread that
  // generates; well under a millisecond.
  virtual std::vector<Continuation> find(std::span<const TokenId> context, int length, int most) = 0;
};

// A store that lives in memory: for tests and measurements. Any thread.
class MemoryTextStore : public TextStore {
 public:
  void add(std::span<const TokenId> text);  // findable at once
  std::vector<Continuation> find(std::span<const TokenId> context, int length, int most) override;

 private:
  std::mutex mutex_;
  SuffixIndex index_;
};

}  // namespace tandem
