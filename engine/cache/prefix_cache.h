// The beginnings of texts that were read before, as pages of keys and values and, where a model needs more to
// go on, its state at marked positions. A text that begins alike takes them over instead of being read again;
// what it then computes has the bits of a cold read (docs/caches.md).
//
// A tree of pages: a node is a page of kTile positions below the page before it, and belongs to its own
// tokens after all of those before; they are compared token by token. Only leaves may be partly filled. Pages
// are shared with the sequences that read them and never written here; who writes on copies a partly filled
// one first. What is below on disk is asked and told by those who use both (RunCache). One cache serves one
// decoder: model, kernels and cache type are the same for all it holds. Threads: any may call; the decoder's
// alone finds and inserts.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/cache/sequence.h"
#include "engine/cache/text_hash.h"
#include "engine/tokenizer/token_id.h"

namespace tandem {

// What a part of the cache was kept for.
enum class CacheTier : std::uint8_t {
  kPages,      // keys and values up to the end of a text
  kGrid,       // the state at a position of the grid
  kPromptEnd,  // the logits after a prompt, and the state there
  kEndAnchor,  // the state at the end of a generation
};
// "pages", "grid", "prompt end", "end anchor"
const char* cacheTierName(CacheTier tier);

using StoredLogits = std::shared_ptr<const std::vector<float>>;  // (vocabulary); null: none

// What else than its pages a sequence needs at a position to go on there.
struct CacheMark {
  CacheTier tier = CacheTier::kGrid;
  int position = 0;  // tokens before it, at least one
  RecurrentState recurrent = {};
  std::vector<float> hidden = {};
  StoredLogits logits = {};  // of the row before the position

  std::size_t bytes() const;
};

// Wrong on purpose, so that tests can show that they would see it.
struct CacheFaults {
  bool oneHash = false;       // all pages have the same hash; not a fault as long as tokens are compared
  bool trustHash = false;     // pages of equal hash are taken for equal
  bool lateSnapshot = false;  // the state at a position of the grid has read one token more
};

struct PrefixCacheOptions {
  std::size_t budget = 0;  // bytes; the least recently used goes first
  int grid = 1024;         // positions between two states that are kept while a text is read
  bool endAnchor = true;   // whether the state at the end of a generation is kept
  CacheFaults faults = {};
};

// What the cache knows of a text.
struct CacheHit {
  Sequence sequence;         // its beginning; empty: nothing
  StoredLogits logits = {};  // after its last token, where the sequence is the whole text
};

// A row of the list of what is held. The bytes of all rows are those of the cache.
struct CacheEntry {
  std::uint64_t id = 0;
  CacheTier tier = CacheTier::kPages;
  int tokens = 0;                   // from the beginning of the text
  std::vector<TokenId> first = {};  // the text's first tokens, at most a page of them
  std::size_t bytes = 0;            // a page that several texts share is counted with the first of them
  std::uint64_t hits = 0;
  double ageSeconds = 0;          // since it was last used
  std::int64_t conversation = 0;  // that it was last put in for; 0: none
  bool pinned = false;
  Hash128 text = {};  // of all its tokens, as textHash
};

// What is held for an entry, shared with the cache.
struct HeldText {
  std::vector<TokenId> tokens;
  KvSequence kv;  // of these tokens
  std::optional<CacheMark> mark = {};
};

class DiskCache;

class PrefixCache {
 public:
  // For the decoder that makes such sequences. REQUIRES: empty.length() == 0, options.grid > 0.
  PrefixCache(Sequence empty, const PrefixCacheOptions& options);
  ~PrefixCache();
  PrefixCache(const PrefixCache&) = delete;
  PrefixCache& operator=(const PrefixCache&) = delete;

  int grid() const { return grid_; }
  bool keepsEndAnchors() const { return endAnchor_; }
  const CacheFaults& faults() const { return faults_; }
  // Of the texts that are read from now on. REQUIRES: grid > 0.
  void setMarks(int grid, bool endAnchor);
  // Whether sequences need more than pages to go on, so that they can do so at marks only.
  bool stateful() const { return stateful_; }

  // What is below this cache on disk; null: nothing. Set before the first request.
  void setDisk(std::shared_ptr<DiskCache> disk) { disk_ = std::move(disk); }
  DiskCache* disk() const { return disk_.get(); }

  // The longest beginning of the text that can be gone on from; shorter than the text unless the logits after
  // it are known. REQUIRES: not empty.
  CacheHit find(std::span<const TokenId> text);
  // Keeps a sequence and the marks on its way; what is there already stays. Then what was not used for
  // longest goes, until the budget is met. REQUIRES: text.size() == sequence.length() > 0; marks lie within
  // it.
  void insert(std::span<const TokenId> text, const Sequence& sequence, std::span<const CacheMark> marks,
              std::int64_t conversation);

  std::size_t bytes() const;
  std::size_t budget() const;
  // root: before a text's first piece (textHash), for CacheEntry::text.
  std::vector<CacheEntry> entries(const Hash128& root = {}) const;
  // nullopt: there is no such entry.
  std::optional<HeldText> held(std::uint64_t id) const;
  void setBudget(std::size_t bytes);
  // A pinned entry stays until it is dropped, whatever the budget. False: there is no such entry.
  bool pin(std::uint64_t id, bool pinned);
  // Lets an entry go, with the pages that it alone uses. False: there is no such entry.
  bool drop(std::uint64_t id);
  // Lets go, pinned or not, what was put in for this conversation last.
  void dropConversation(std::int64_t conversation);
  void clear();

 private:
  struct Mark;
  struct Node;
  struct Best;
  struct Victim;

  // All REQUIRE: mutex_ is held.
  std::uint64_t key(const Node& parent, std::span<const TokenId> tokens) const;
  Node* fullChild(const Node& parent, std::span<const TokenId> tokens) const;
  Node* childFor(Node& parent, std::span<const TokenId> tokens, const KvSequence::Page& page);
  void consider(Node& node, std::size_t start, int common, std::size_t textSize, Best& best) const;
  void addMark(Node& node, const CacheMark& mark, std::int64_t conversation);
  void touch(Node* node);
  void shrink();
  void visit(Node& node, Victim& victim) const;
  struct Listing;
  void list(const Node& node, std::size_t carried, std::uint64_t hits, Listing& listing) const;
  bool findEntry(Node& node, std::uint64_t id, Node*& owner, std::size_t& mark) const;
  void removeMark(Node& node, std::size_t index);
  Node* removeLeaf(Node& node);
  void prune(Node* node);

  const Sequence empty_;
  const CacheFaults faults_;
  const bool stateful_;
  std::atomic<int> grid_;
  std::atomic<bool> endAnchor_;
  std::shared_ptr<DiskCache> disk_;
  mutable std::mutex mutex_;
  std::unique_ptr<Node> root_;
  std::unordered_multimap<std::uint64_t, Node*> index_;  // full pages
  std::size_t bytes_ = 0, budget_;
  std::uint64_t clock_ = 0, ids_ = 0;
};

}  // namespace tandem
