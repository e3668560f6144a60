#include "engine/cache/prefix_cache.h"

#include <xxhash.h>

#include <algorithm>
#include <cassert>

#include "engine/cache/text_file.h"

namespace tandem {

using kernels::kTile;
using Clock = std::chrono::steady_clock;

struct PrefixCache::Mark {
  CacheMark what;
  std::uint64_t id = 0, used = 0, hits = 0;
  std::int64_t conversation = 0;
  Clock::time_point touched;
  bool pinned = false;
};

struct PrefixCache::Node {
  Node* parent = nullptr;
  std::vector<TokenId> tokens;  // 1 to kTile
  KvSequence::Page page;
  std::vector<std::unique_ptr<Node>> children;
  std::vector<Mark> marks;  // behind one of the tokens
  std::uint64_t id = 0, used = 0, hits = 0;
  std::int64_t conversation = 0;
  Clock::time_point touched;
  bool pinned = false;

  bool isFull() const { return static_cast<int>(tokens.size()) == kTile; }
  bool isLeaf() const { return children.empty(); }
  bool isPinned() const {
    return pinned || std::ranges::any_of(marks, [](const Mark& mark) { return mark.pinned; });
  }
  std::size_t bytes(const KvLayout& layout) const {
    return layout.pageBytes() + tokens.size() * sizeof(TokenId);
  }
};

// Where a text can be gone on from.
struct PrefixCache::Best {
  Node* node = nullptr;
  Mark* mark = nullptr;  // null: by its pages alone
  std::size_t length = 0;
  bool whole = false;  // the logits after the text are known
};

// What is to go next: the least recently used, of equal ones states on the grid, then leaves, then the rest.
struct PrefixCache::Victim {
  Node* node = nullptr;
  std::size_t mark = 0;  // node->marks.size(): the leaf itself
  std::uint64_t used = 0;
  int rank = 0;

  void offer(Node& other, std::size_t index, std::uint64_t lastUsed, int otherRank) {
    if (node && (lastUsed > used || (lastUsed == used && otherRank >= rank))) return;
    *this = {&other, index, lastUsed, otherRank};
  }
};

namespace {

int commonTokens(std::span<const TokenId> a, std::span<const TokenId> b) {
  return static_cast<int>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

const char* cacheTierName(CacheTier tier) {
  switch (tier) {
    case CacheTier::kPages:
      return "pages";
    case CacheTier::kGrid:
      return "grid";
    case CacheTier::kPromptEnd:
      return "prompt end";
    case CacheTier::kEndAnchor:
      return "end anchor";
  }
  return "pages";
}

std::size_t CacheMark::bytes() const {
  return recurrent.bytes().size() + (hidden.size() + (logits ? logits->size() : 0)) * sizeof(float);
}

PrefixCache::PrefixCache(Sequence empty, const PrefixCacheOptions& options)
    : empty_(std::move(empty)),
      faults_(options.faults),
      stateful_(empty_.recurrent.layout().layers > 0 || !empty_.hidden.empty()),
      grid_(options.grid),
      endAnchor_(options.endAnchor),
      root_(std::make_unique<Node>()),
      budget_(options.budget) {
  assert(empty_.length() == 0 && options.grid > 0);
}

PrefixCache::~PrefixCache() {
  clear();
}

std::uint64_t PrefixCache::key(const Node& parent, std::span<const TokenId> tokens) const {
  return faults_.oneHash ? 0 : XXH3_64bits_withSeed(tokens.data(), tokens.size_bytes(), parent.id);
}

PrefixCache::Node* PrefixCache::fullChild(const Node& parent, std::span<const TokenId> tokens) const {
  if (static_cast<int>(tokens.size()) != kTile) return nullptr;
  const auto [begin, end] = index_.equal_range(key(parent, tokens));
  for (auto i = begin; i != end; ++i) {
    Node* node = i->second;
    if (node->parent == &parent && (faults_.trustHash || std::ranges::equal(node->tokens, tokens)))
      return node;
  }
  return nullptr;
}

CacheHit PrefixCache::find(std::span<const TokenId> text) {
  assert(!text.empty());
  const std::lock_guard lock(mutex_);
  Best best;
  Node* node = root_.get();
  for (std::size_t start = 0; node && start < text.size(); start += kTile) {
    const auto own = text.subspan(start, std::min<std::size_t>(kTile, text.size() - start));
    Node* next = fullChild(*node, own);
    if (next) consider(*next, start, kTile, text.size(), best);
    if (!next || stateful_) {
      for (const auto& child : node->children) {
        if (child.get() != next) consider(*child, start, commonTokens(child->tokens, own), text.size(), best);
      }
    }
    node = next;
  }
  CacheHit hit{empty_};
  if (!best.node) return hit;
  ++clock_;
  touch(best.node);
  ++best.node->hits;
  std::vector<KvSequence::Page> pages;
  for (const Node* at = best.node; at != root_.get(); at = at->parent)
    pages.push_back(at->page);
  std::ranges::reverse(pages);
  hit.sequence.kv = KvSequence(empty_.kv.layout(), std::move(pages), static_cast<int>(best.length));
  if (best.mark) {
    best.mark->used = clock_;
    best.mark->touched = best.node->touched;
    ++best.mark->hits;
    if (stateful_) {
      hit.sequence.recurrent = best.mark->what.recurrent;
      hit.sequence.hidden = best.mark->what.hidden;
    }
    if (best.whole) hit.logits = best.mark->what.logits;
  }
  return hit;
}

// `common` tokens of the node, which starts at `start`, are those of the text.
void PrefixCache::consider(Node& node, std::size_t start, int common, std::size_t textSize,
                           Best& best) const {
  if (best.whole) return;
  for (Mark& mark : node.marks) {
    const auto position = static_cast<std::size_t>(mark.what.position);
    if (position > start + common) continue;
    if (position == textSize && mark.what.logits) {
      best = {&node, &mark, position, true};
      return;
    }
    if (stateful_ && position < textSize && position > best.length) best = {&node, &mark, position, false};
  }
  // One token at least is forwarded, for its logits.
  const std::size_t length = std::min(start + common, textSize - 1);
  if (!stateful_ && length > start && length > best.length) best = {&node, nullptr, length, false};
}

void PrefixCache::touch(Node* node) {
  const auto now = Clock::now();
  for (; node != root_.get(); node = node->parent) {
    node->used = clock_;
    node->touched = now;
  }
}

void PrefixCache::insert(std::span<const TokenId> text, const Sequence& sequence,
                         std::span<const CacheMark> marks, std::int64_t conversation) {
  assert(!text.empty() && static_cast<int>(text.size()) == sequence.length());
  const std::lock_guard lock(mutex_);
  ++clock_;
  Node* node = root_.get();
  for (std::size_t start = 0; start < text.size(); start += kTile) {
    const std::size_t end = std::min(start + kTile, text.size());
    node = childFor(*node, text.subspan(start, end - start), sequence.kv.pages()[start / kTile]);
    node->conversation = conversation;
    for (const CacheMark& mark : marks) {
      const auto position = static_cast<std::size_t>(mark.position);
      if (position > start && position <= end) addMark(*node, mark, conversation);
    }
  }
  touch(node);
  prune(node);
  shrink();
}

// The child that holds these tokens, possibly with more behind them; made, or grown out of one that holds
// their beginning, where there is none.
PrefixCache::Node* PrefixCache::childFor(Node& parent, std::span<const TokenId> tokens,
                                         const KvSequence::Page& page) {
  Node* child = fullChild(parent, tokens);
  if (child) return child;
  for (const auto& other : parent.children) {
    const std::size_t common = commonTokens(other->tokens, tokens);
    if (common == tokens.size()) return other.get();
    if (common == other->tokens.size()) child = other.get();
  }
  if (!child) {
    const bool goesOn = parent.isLeaf();
    child = parent.children.emplace_back(std::make_unique<Node>()).get();
    child->parent = &parent;
    child->id = ++ids_;
    if (goesOn) std::swap(child->pinned, parent.pinned);  // the entry is longer now
  } else {
    bytes_ -= child->bytes(empty_.kv.layout());
  }
  child->tokens.assign(tokens.begin(), tokens.end());
  child->page = page;
  bytes_ += child->bytes(empty_.kv.layout());
  if (child->isFull()) index_.emplace(key(parent, tokens), child);
  return child;
}

void PrefixCache::addMark(Node& node, const CacheMark& mark, std::int64_t conversation) {
  for (Mark& known : node.marks) {
    if (known.what.position != mark.position) continue;
    known.used = clock_;
    if (mark.logits && !known.what.logits) {
      known.what.logits = mark.logits;
      known.what.tier = mark.tier;
      bytes_ += mark.logits->size() * sizeof(float);
    }
    return;
  }
  bytes_ += mark.bytes();
  node.marks.push_back({mark, ++ids_, clock_, 0, conversation, Clock::now()});
}

void PrefixCache::shrink() {
  while (bytes_ > budget_) {
    Victim victim;
    visit(*root_, victim);
    if (!victim.node) return;  // all that is left is pinned
    if (victim.mark < victim.node->marks.size()) {
      removeMark(*victim.node, victim.mark);
    } else {
      prune(removeLeaf(*victim.node));
    }
  }
}

void PrefixCache::visit(Node& node, Victim& victim) const {
  for (std::size_t i = 0; i < node.marks.size(); ++i) {
    const Mark& mark = node.marks[i];
    if (!mark.pinned && !node.pinned)
      victim.offer(node, i, mark.used, mark.what.tier == CacheTier::kGrid ? 0 : 2);
  }
  if (&node != root_.get() && node.isLeaf() && !node.isPinned())
    victim.offer(node, node.marks.size(), node.used, 1);
  for (const auto& child : node.children)
    visit(*child, victim);
}

void PrefixCache::removeMark(Node& node, std::size_t index) {
  bytes_ -= node.marks[index].what.bytes();
  node.marks.erase(node.marks.begin() + static_cast<std::ptrdiff_t>(index));
  prune(&node);
}

// Returns its parent.
PrefixCache::Node* PrefixCache::removeLeaf(Node& node) {
  Node* parent = node.parent;
  for (const Mark& mark : node.marks)
    bytes_ -= mark.what.bytes();
  bytes_ -= node.bytes(empty_.kv.layout());
  if (node.isFull()) {
    const auto [begin, end] = index_.equal_range(key(*parent, node.tokens));
    index_.erase(std::find_if(begin, end, [&](const auto& pair) { return pair.second == &node; }));
  }
  std::erase_if(parent->children, [&](const auto& child) { return child.get() == &node; });
  return parent;
}

// Pages behind the last state are of no use where states are needed.
void PrefixCache::prune(Node* node) {
  while (stateful_ && node != root_.get() && node->isLeaf() && node->marks.empty() && !node->pinned)
    node = removeLeaf(*node);
}

std::size_t PrefixCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void PrefixCache::setBudget(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  budget_ = bytes;
  shrink();
}

std::size_t PrefixCache::budget() const {
  const std::lock_guard lock(mutex_);
  return budget_;
}

void PrefixCache::setMarks(int grid, bool endAnchor) {
  assert(grid > 0);
  grid_ = grid;
  endAnchor_ = endAnchor;
}

// On the way from the root to a node: the tokens so far, the hashes before each of their pieces, the rows.
struct PrefixCache::Listing {
  std::vector<TokenId> tokens;
  std::vector<Hash128> pieces;
  std::vector<CacheEntry> rows;
  const Clock::time_point now = Clock::now();

  // REQUIRES: 0 < end <= tokens.size(), in the piece that was begun last.
  void add(CacheEntry row, int end, Clock::time_point touched) {
    const auto text = std::span<const TokenId>(tokens).first(static_cast<std::size_t>(end));
    row.tokens = end;
    row.first.assign(text.begin(), text.begin() + std::min(end, kTile));
    row.ageSeconds = std::chrono::duration<double>(now - touched).count();
    row.text = textHash(pieces.back(), text.subspan(static_cast<std::size_t>(pieceStart(end))));
    rows.push_back(std::move(row));
  }
};

std::vector<CacheEntry> PrefixCache::entries(const Hash128& root) const {
  const std::lock_guard lock(mutex_);
  Listing listing{.tokens = {}, .pieces = {root}, .rows = {}};
  for (const auto& child : root_->children)
    list(*child, 0, 0, listing);
  return std::move(listing.rows);
}

// `carried` and `hits` are of the pages before that no row has yet.
void PrefixCache::list(const Node& node, std::size_t carried, std::uint64_t hits, Listing& listing) const {
  const std::size_t start = listing.tokens.size();
  const bool newPiece = start > 0 && start % kPiece == 0;
  if (newPiece)
    listing.pieces.push_back(
        textHash(listing.pieces.back(), std::span(listing.tokens).subspan(start - kPiece)));
  listing.tokens.insert(listing.tokens.end(), node.tokens.begin(), node.tokens.end());
  carried += node.bytes(empty_.kv.layout());
  hits += node.hits;
  for (const Mark& mark : node.marks) {
    listing.add({.id = mark.id,
                 .tier = mark.what.tier,
                 .bytes = mark.what.bytes(),
                 .hits = mark.hits,
                 .conversation = mark.conversation,
                 .pinned = mark.pinned},
                mark.what.position, mark.touched);
  }
  if (node.isLeaf()) {
    listing.add({.id = node.id,
                 .bytes = carried,
                 .hits = hits,
                 .conversation = node.conversation,
                 .pinned = node.pinned},
                static_cast<int>(listing.tokens.size()), node.touched);
  }
  for (const auto& child : node.children) {
    list(*child, carried, hits, listing);
    carried = hits = 0;
  }
  listing.tokens.resize(start);
  if (newPiece) listing.pieces.pop_back();
}

std::optional<HeldText> PrefixCache::held(std::uint64_t id) const {
  const std::lock_guard lock(mutex_);
  Node* node = nullptr;
  std::size_t mark = 0;
  if (!findEntry(*root_, id, node, mark)) return std::nullopt;
  std::vector<const Node*> way;
  for (const Node* at = node; at != root_.get(); at = at->parent)
    way.push_back(at);
  HeldText text{{}, empty_.kv};
  std::vector<KvSequence::Page> pages;
  for (auto at = way.rbegin(); at != way.rend(); ++at) {
    text.tokens.insert(text.tokens.end(), (*at)->tokens.begin(), (*at)->tokens.end());
    pages.push_back((*at)->page);
  }
  if (mark < node->marks.size()) {
    text.mark = node->marks[mark].what;
    text.tokens.resize(static_cast<std::size_t>(text.mark->position));
  }
  text.kv = KvSequence(empty_.kv.layout(), std::move(pages), static_cast<int>(text.tokens.size()));
  return text;
}

// Finds the node that is the entry or carries it; `mark` is its index there, or marks.size() of a leaf.
bool PrefixCache::findEntry(Node& node, std::uint64_t id, Node*& owner, std::size_t& mark) const {
  owner = &node;
  for (mark = 0; mark < node.marks.size(); ++mark) {
    if (node.marks[mark].id == id) return true;
  }
  if (node.id == id && node.isLeaf() && &node != root_.get()) return true;
  return std::ranges::any_of(node.children,
                             [&](const auto& child) { return findEntry(*child, id, owner, mark); });
}

bool PrefixCache::pin(std::uint64_t id, bool pinned) {
  const std::lock_guard lock(mutex_);
  Node* node = nullptr;
  std::size_t mark = 0;
  if (!findEntry(*root_, id, node, mark)) return false;
  (mark < node->marks.size() ? node->marks[mark].pinned : node->pinned) = pinned;
  if (!pinned) prune(node);
  shrink();
  return true;
}

bool PrefixCache::drop(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  Node* node = nullptr;
  std::size_t mark = 0;
  if (!findEntry(*root_, id, node, mark)) return false;
  if (mark < node->marks.size()) {
    removeMark(*node, mark);
    return true;
  }
  do {
    node = removeLeaf(*node);
  } while (node != root_.get() && node->isLeaf() && !node->isPinned());
  return true;
}

void PrefixCache::dropConversation(std::int64_t conversation) {
  const std::lock_guard lock(mutex_);
  std::vector<Node*> nodes = {root_.get()};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const auto& child : nodes[i]->children)
      nodes.push_back(child.get());
  }
  // Children before their parents; a page that another text goes on from stays.
  for (auto i = nodes.rbegin(); *i != root_.get(); ++i) {
    Node& node = **i;
    std::erase_if(node.marks, [&](const Mark& mark) {
      if (mark.conversation != conversation) return false;
      bytes_ -= mark.what.bytes();
      return true;
    });
    const bool unused = stateful_ && node.marks.empty() && !node.pinned;
    if (node.isLeaf() && (node.conversation == conversation || unused)) removeLeaf(node);
  }
}

void PrefixCache::clear() {
  const std::lock_guard lock(mutex_);
  index_.clear();
  // A long text is a long chain, which must not be let go by recursion.
  std::vector<std::unique_ptr<Node>> nodes = std::move(root_->children);
  root_->children.clear();
  while (!nodes.empty()) {
    const std::unique_ptr<Node> node = std::move(nodes.back());
    nodes.pop_back();
    std::ranges::move(node->children, std::back_inserter(nodes));
    node->children.clear();
  }
  bytes_ = 0;
}

}  // namespace tandem
