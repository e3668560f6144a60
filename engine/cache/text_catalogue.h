// What the cache on disk holds, in memory: which files together are the longest known beginning of a text.
// Any thread may call.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <vector>

#include "engine/cache/text_index.h"

namespace tandem {

using TextRowPtr = std::shared_ptr<const TextRow>;

// Wrong on purpose, so that tests can show that they would see it.
struct DiskFaults {
  bool oneHash = false;       // all beginnings have the same hash; not a fault as long as tokens are compared
  bool trustHash = false;     // beginnings of equal hash are taken for equal
  bool skipChecksum = false;  // what is read is taken as it is
};

// The files of a beginning.
struct TextPlan {
  int length = 0;                  // tokens; 0: nothing is known
  std::vector<TextRowPtr> pieces;  // of pages, from the first position on; the last may hold more
  TextRowPtr mark;                 // at `length`, where a state is needed
};

class TextCatalogue {
 public:
  TextCatalogue(bool stateful, const DiskFaults& faults) : stateful_(stateful), faults_(faults) {}

  void reset(std::vector<TextRow> rows);
  void add(TextRow row);
  void remove(std::int64_t id);
  void use(const TextUse& use);

  // The longest beginning of the text in files of this model but for the `without`. Where a state is needed
  // it ends at a mark, behind the whole text only when its logits are known.
  TextPlan plan(const std::string& model, std::span<const TokenId> text,
                const std::set<std::int64_t>& without) const;

  // A file with exactly these tokens behind the parent; of pages, also one with more. Null: none.
  TextRowPtr find(TextFileKind kind, const Hash128& parent, int start, std::span<const TokenId> tokens) const;
  // Files of pages whose tokens are less than these, and their beginning.
  std::vector<TextRowPtr> shorter(const Hash128& parent, int start, std::span<const TokenId> tokens) const;
  std::vector<TextRowPtr> rows() const;  // what was used longest ago first
  std::uint64_t bytes() const;

  // Of a model's first piece, and of the piece behind these tokens.
  Hash128 root(const std::string& model) const;
  Hash128 next(const Hash128& parent, std::span<const TokenId> tokens) const;

 private:
  using Children = std::map<Hash128, std::vector<TextRowPtr>>;
  const std::vector<TextRowPtr>& childrenOf(const Hash128& parent) const;  // REQUIRES: mutex_ is held

  const bool stateful_;
  const DiskFaults faults_;
  mutable std::mutex mutex_;
  Children children_;
  std::uint64_t bytes_ = 0;
};

}  // namespace tandem
