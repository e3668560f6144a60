// The second half of BlockSplitter: how leaves are made and filled, and where the budgets cut them.
#include <algorithm>
#include <utility>

#include "ui/markdown/splitter.h"

namespace tandem::markdown {

namespace {

constexpr std::uint32_t kCutSearch = 256;  // bytes looked back for a space to cut at

std::uint32_t offset(std::size_t value) {
  return static_cast<std::uint32_t>(value);
}

}  // namespace

Leaf& BlockSplitter::newLeaf(LeafKind kind) {
  Leaf leaf;
  leaf.kind = kind;
  for (const Container& container : state_.containers)
    leaf.containers += container.type;
  const auto inList = [](const Leaf& one) { return one.containers.find('L') != std::string::npos; };
  leaf.tight = !state_.blankBefore && !leaves_.empty() && inList(leaf) && inList(leaves_.back());
  leaf.marker = std::exchange(state_.marker, {});
  leaf.task = std::exchange(state_.task, TaskBox::kNone);
  state_.blankBefore = false;
  return leaves_.emplace_back(std::move(leaf));
}

// Adds a line, given with its line end, to the paragraph or table that is open.
void BlockSplitter::addParagraphText(SourceRange text) {
  const Leaf& leaf = leaves_.back();
  if (leaf.kind == LeafKind::kPlain) {
    addPlain(text);
    return;
  }
  SourceRange line = text;
  while (line.end > line.begin && (source_[line.end - 1] == '\n' || isSpace(source_[line.end - 1])))
    --line.end;
  const bool table = leaf.kind == LeafKind::kTable;
  const bool fits = leaf.bytes + line.size() <= (table ? kMaxTable : kMaxParagraph) &&
                    !(table && (leaf.lines.size() + 1) * leaf.aligns.size() > kMaxTableCells);
  if (fits) {
    addRange(line);
    return;
  }
  if (leaf.lines.empty()) {
    const std::uint32_t cut = offset(cutBefore(text.begin, kMaxParagraph));
    addRange({text.begin, cut});
    text.begin = cut;
  }
  continueAs(LeafKind::kPlain);
  addPlain(text);
}

// `text` is a line of code with its line end.
void BlockSplitter::addCode(SourceRange text) {
  const Leaf& leaf = leaves_.back();
  const bool full = leaf.lines.size() >= kMaxCodeLines || leaf.bytes + text.size() > kMaxCode;
  if (full && !leaf.lines.empty()) continueAs(LeafKind::kCode);
  if (text.size() > kMaxCodeLine) leaves_.back().wrap = true;
  while (text.size() > kMaxCode) {
    const std::uint32_t cut = offset(cutBefore(text.begin, kMaxCode));
    addRange({text.begin, cut});
    continueAs(LeafKind::kCode);
    leaves_.back().wrap = true;
    text.begin = cut;
  }
  addRange(text);
}

// `text` is a line with its line end.
void BlockSplitter::addPlain(SourceRange text) {
  if (leaves_.back().bytes + text.size() > kMaxPlain && leaves_.back().bytes > 0) {
    continueAs(LeafKind::kPlain);
  }
  while (text.size() > kMaxPlain) {
    const std::uint32_t cut = offset(cutBefore(text.begin, kMaxPlain));
    addRange({text.begin, cut});
    continueAs(LeafKind::kPlain);
    text.begin = cut;
  }
  addRange(text);
}

void BlockSplitter::continueAs(LeafKind kind) {
  Leaf next;
  next.kind = kind;
  next.continues = true;
  next.containers = leaves_.back().containers;
  next.info = leaves_.back().info;
  leaves_.push_back(std::move(next));
}

void BlockSplitter::addRange(SourceRange text) {
  Leaf& leaf = leaves_.back();
  leaf.bytes += text.size();
  leaf.lines.push_back(text);
}

// The best place to cut in (begin, begin + limit]: after a space near the end, else between two characters.
// REQUIRES: begin + limit <= source_.size()
std::size_t BlockSplitter::cutBefore(std::size_t begin, std::size_t limit) const {
  const std::size_t end = begin + limit;
  for (std::size_t i = end; i > end - kCutSearch; --i) {
    if (source_[i - 1] == ' ' || source_[i - 1] == '\n') return i;
  }
  std::size_t cut = end;
  while (cut > end - 3 && cut < source_.size() && (source_[cut] & 0xC0) == 0x80)
    --cut;
  return cut;
}

}  // namespace tandem::markdown
