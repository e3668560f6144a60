#include "engine/cache/text_catalogue.h"

#include <algorithm>

namespace tandem {
namespace {

int commonTokens(std::span<const TokenId> a, std::span<const TokenId> b) {
  return static_cast<int>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

Hash128 TextCatalogue::root(const std::string& model) const {
  return faults_.oneHash ? Hash128{} : hashOf(model.data(), model.size());
}

Hash128 TextCatalogue::next(const Hash128& parent, std::span<const TokenId> tokens) const {
  return faults_.oneHash ? Hash128{} : textHash(parent, tokens);
}

void TextCatalogue::reset(std::vector<TextRow> rows) {
  {
    const std::lock_guard lock(mutex_);
    children_.clear();
    bytes_ = 0;
  }
  for (TextRow& row : rows)
    add(std::move(row));
}

void TextCatalogue::add(TextRow row) {
  const std::lock_guard lock(mutex_);
  bytes_ += row.bytes;
  const Hash128 parent = row.parent;
  children_[parent].push_back(std::make_shared<const TextRow>(std::move(row)));
}

void TextCatalogue::remove(std::int64_t id) {
  const std::lock_guard lock(mutex_);
  for (auto i = children_.begin(); i != children_.end(); ++i) {
    const auto row = std::ranges::find(i->second, id, [](const TextRowPtr& one) { return one->id; });
    if (row == i->second.end()) continue;
    bytes_ -= (*row)->bytes;
    i->second.erase(row);
    if (i->second.empty()) children_.erase(i);
    return;
  }
}

void TextCatalogue::use(const TextUse& use) {
  const std::lock_guard lock(mutex_);
  for (auto& [parent, rows] : children_) {
    for (TextRowPtr& row : rows) {
      if (row->id != use.id) continue;
      auto changed = std::make_shared<TextRow>(*row);
      changed->usedUs = use.usedUs;
      if (use.conversation != 0) changed->conversation = use.conversation;
      changed->hits += use.restored;
      row = std::move(changed);
      return;
    }
  }
}

const std::vector<TextRowPtr>& TextCatalogue::childrenOf(const Hash128& parent) const {
  static const std::vector<TextRowPtr> none;
  const auto found = children_.find(parent);
  return found == children_.end() ? none : found->second;
}

TextPlan TextCatalogue::plan(const std::string& model, std::span<const TokenId> text,
                             const std::set<std::int64_t>& without) const {
  const std::lock_guard lock(mutex_);
  TextPlan plan;
  Hash128 parent = root(model);
  std::vector<TextRowPtr> pieces;
  for (std::size_t start = 0; start < text.size(); start += kPiece) {
    const auto own = text.subspan(start, std::min<std::size_t>(kPiece, text.size() - start));
    TextRowPtr best;
    int common = 0;
    for (const TextRowPtr& row : childrenOf(parent)) {
      if (row->kind != TextFileKind::kPages || row->start != static_cast<int>(start) || row->model != model ||
          without.contains(row->id))
        continue;
      const int same = faults_.trustHash ? static_cast<int>(std::min(own.size(), row->tokens.size()))
                                         : commonTokens(row->tokens, own);
      if (same > common) best = row, common = same;
    }
    if (!best) break;
    pieces.push_back(best);
    const int reach = static_cast<int>(start) + common;
    if (!stateful_) plan = {reach, pieces, nullptr};
    for (const TextRowPtr& row : childrenOf(parent)) {
      const bool fits = stateful_ && row->kind == TextFileKind::kMark &&
                        row->start == static_cast<int>(start) && row->model == model && row->end <= reach &&
                        !without.contains(row->id) &&
                        (row->end < static_cast<int>(text.size()) || row->logits);
      if (!fits || row->end <= plan.length) continue;
      if (faults_.trustHash || commonTokens(row->tokens, own) == static_cast<int>(row->tokens.size()))
        plan = {row->end, pieces, row};
    }
    if (common < kPiece) break;
    parent = next(parent, own);
  }
  return plan;
}

TextRowPtr TextCatalogue::find(TextFileKind kind, const Hash128& parent, int start,
                               std::span<const TokenId> tokens) const {
  const std::lock_guard lock(mutex_);
  for (const TextRowPtr& row : childrenOf(parent)) {
    const bool sized = kind == TextFileKind::kPages ? row->tokens.size() >= tokens.size()
                                                    : row->tokens.size() == tokens.size();
    if (row->kind == kind && row->start == start && sized &&
        commonTokens(tokens, row->tokens) == static_cast<int>(tokens.size()))
      return row;
  }
  return nullptr;
}

std::vector<TextRowPtr> TextCatalogue::shorter(const Hash128& parent, int start,
                                               std::span<const TokenId> tokens) const {
  const std::lock_guard lock(mutex_);
  std::vector<TextRowPtr> found;
  for (const TextRowPtr& row : childrenOf(parent)) {
    if (row->kind == TextFileKind::kPages && row->start == start && row->tokens.size() < tokens.size() &&
        commonTokens(row->tokens, tokens) == static_cast<int>(row->tokens.size()))
      found.push_back(row);
  }
  return found;
}

std::vector<TextRowPtr> TextCatalogue::rows() const {
  const std::lock_guard lock(mutex_);
  std::vector<TextRowPtr> all;
  for (const auto& [parent, rows] : children_)
    all.insert(all.end(), rows.begin(), rows.end());
  // Of a text its beginning stays longest, as long as all of it was used at once.
  std::ranges::sort(all, [](const TextRowPtr& a, const TextRowPtr& b) {
    return a->usedUs != b->usedUs ? a->usedUs < b->usedUs : a->end > b->end;
  });
  return all;
}

std::uint64_t TextCatalogue::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace tandem
