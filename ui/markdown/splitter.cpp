#include "ui/markdown/splitter.h"

#include <algorithm>
#include <utility>

namespace tandem::markdown {

namespace {

constexpr std::uint32_t kMaxHeading = 1 << 10;  // bytes; a longer one is a paragraph
constexpr std::uint32_t kCutSearch = 256;       // bytes looked back for a space to cut at
constexpr std::size_t kMaxShown = 1ull << 30;   // ranges are 32 bits wide
constexpr int kCodeIndent = 4;

std::uint32_t offset(std::size_t value) {
  return static_cast<std::uint32_t>(value);
}

}  // namespace

std::size_t BlockSplitter::append(std::string_view bytes) {
  source_.append(bytes);
  finished_ = false;
  return advance();
}

std::size_t BlockSplitter::finish() {
  finished_ = true;
  return advance();
}

std::size_t BlockSplitter::showMore() {
  shownLimit_ = std::min(shownLimit_ + kShownStep, kMaxShown);
  lineLimit_ += kShownLines;
  return advance();
}

std::size_t BlockSplitter::hiddenBytes() const {
  const std::size_t limit = lines_ >= lineLimit_ ? readTo_ : shownLimit_;
  return source_.size() > limit ? source_.size() - limit : 0;
}

std::string_view BlockSplitter::view(SourceRange range) const {
  return std::string_view(source_).substr(range.begin, range.size());
}

std::size_t BlockSplitter::advance() {
  rollBack();
  const std::size_t first = leaves_.empty() ? 0 : leaves_.size() - 1;
  std::size_t limit = source_.size();
  if (limit > shownLimit_) limit = cutBefore(0, shownLimit_);
  while (searchedTo_ < limit && lines_ < lineLimit_) {
    const std::size_t newline = source_.find('\n', searchedTo_);
    if (newline == std::string::npos || newline >= limit) break;
    readLine({offset(readTo_), offset(newline + 1)});
    readTo_ = searchedTo_ = newline + 1;
    ++lines_;
  }
  if (lines_ >= lineLimit_) return first;
  searchedTo_ = std::max(searchedTo_, limit);

  const SourceRange tail{offset(readTo_), offset(limit)};
  if (tail.size() > 0 && (finished_ || plain_ || !isUndecided(view(tail)))) {
    savedState_ = state_;
    savedCount_ = leaves_.size();
    savedLast_ = leaves_.empty() ? Leaf{} : leaves_.back();
    provisional_ = true;
    readLine(tail);
  }
  return first;
}

void BlockSplitter::rollBack() {
  if (!provisional_) return;
  provisional_ = false;
  state_ = savedState_;
  leaves_.resize(savedCount_);
  if (savedCount_ > 0) leaves_.back() = savedLast_;
}

void BlockSplitter::readLine(SourceRange line) {
  if (plain_ || (leaves_.size() >= kMaxRichLeaves && state_.open != Open::kFence)) {
    readPlainLine(line);
    return;
  }
  if (state_.open == Open::kFence && readFenceLine(line)) return;
  std::string_view text = view(line);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
    text.remove_suffix(1);
  LineCursor cursor(text);
  std::size_t matched = matchContainers(cursor);
  if (cursor.blank()) {
    readBlank(line, matched);
    return;
  }
  const bool opened = openContainers(cursor, matched);
  readLeafLine(line, cursor, matched, opened);
}

void BlockSplitter::readPlainLine(SourceRange line) {
  const bool first = leaves_.empty() || leaves_.back().kind != LeafKind::kPlain ||
                     (!plain_ && leaves_.size() == kMaxRichLeaves);
  if (first) {
    state_ = State{};
    newLeaf(LeafKind::kPlain);
  }
  addPlain(line);
}

std::size_t BlockSplitter::matchContainers(LineCursor& cursor) const {
  std::size_t matched = 0;
  for (const Container& container : state_.containers) {
    if (container.type == 'L') {
      if (cursor.blank()) {
        ++matched;
        continue;
      }
      if (cursor.indent() < container.indent) break;
      cursor.skipColumns(container.indent);
    } else {
      LineCursor peek = cursor;
      peek.skipIndent();
      if (cursor.indent() >= kCodeIndent || !peek.rest().starts_with('>')) break;
      cursor = peek;
      cursor.skipBytes(1);
      cursor.skipColumns(1);
    }
    ++matched;
  }
  return matched;
}

// Returns false, with the fence closed, when the line is outside a quote that holds the code.
bool BlockSplitter::readFenceLine(SourceRange line) {
  std::string_view text = view(line);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
    text.remove_suffix(1);
  LineCursor cursor(text);
  for (const Container& container : state_.containers) {
    if (container.type == 'L') {
      cursor.skipColumns(std::min(cursor.indent(), container.indent));
      continue;
    }
    LineCursor peek = cursor;
    peek.skipIndent();
    if (!peek.rest().starts_with('>')) {
      state_.open = Open::kNone;
      return false;
    }
    cursor = peek;
    cursor.skipBytes(1);
    cursor.skipColumns(1);
  }
  LineCursor visible = cursor;
  visible.skipIndent();
  if (cursor.indent() < kCodeIndent &&
      closesFence(visible.rest(), state_.fenceCharacter, state_.fenceLength)) {
    state_.open = Open::kNone;
    return true;
  }
  cursor.skipColumns(std::min(cursor.indent(), state_.fenceIndent));
  addCode({offset(line.begin + cursor.position()), line.end});
  return true;
}

void BlockSplitter::readBlank(SourceRange line, std::size_t matched) {
  if (matched < state_.containers.size()) closeTo(matched);
  if (state_.open == Open::kIndented) {
    LineCursor cursor(view(line).substr(0, line.size() - (view(line).ends_with('\n') ? 1 : 0)));
    matchContainers(cursor);
    cursor.skipColumns(kCodeIndent);
    state_.blanks.push_back({offset(line.begin + cursor.position()), line.end});
  } else {
    state_.open = Open::kNone;
  }
  state_.blankBefore = true;
}

// Opens the quotes and list items the line begins with; `matched` then counts them too.
bool BlockSplitter::openContainers(LineCursor& cursor, std::size_t& matched) {
  bool opened = false;
  while (cursor.indent() < kCodeIndent && matched < kMaxDepth) {
    LineCursor peek = cursor;
    peek.skipIndent();
    if (peek.rest().starts_with('>')) {
      closeTo(matched);
      cursor = peek;
      cursor.skipBytes(1);
      cursor.skipColumns(1);
      state_.containers.push_back({'Q', 0});
    } else {
      const auto marker = listMarker(peek.rest());
      if (!marker || isRule(peek.rest())) break;
      const bool interrupts = state_.open == Open::kParagraph && matched == state_.containers.size();
      LineCursor after = peek;
      after.skipBytes(marker->width);
      if (interrupts && (after.blank() || !(marker->startsAtOne || !marker->ordered))) break;
      closeTo(matched);
      openItem(cursor, *marker);
    }
    ++matched;
    opened = true;
  }
  return opened;
}

void BlockSplitter::openItem(LineCursor& cursor, const ListMarker& marker) {
  if (!state_.marker.empty()) newLeaf(LeafKind::kParagraph);
  const int before = cursor.indent();
  cursor.skipIndent();
  cursor.skipBytes(marker.width);
  const bool empty = cursor.blank();
  const int spaces = cursor.indent();
  const int after = empty || spaces > kCodeIndent ? 1 : spaces;
  cursor.skipColumns(after);
  state_.containers.push_back({'L', before + static_cast<int>(marker.width) + after});
  state_.marker = marker.shown;
  const std::string_view rest = cursor.rest();
  if (rest.size() > 3 && rest[0] == '[' && rest[2] == ']' && isSpace(rest[3])) {
    if (rest[1] == ' ') state_.task = TaskBox::kOpen;
    if (rest[1] == 'x' || rest[1] == 'X') state_.task = TaskBox::kDone;
    if (state_.task != TaskBox::kNone) cursor.skipBytes(3);
  }
  if (empty) {
    newLeaf(LeafKind::kParagraph);
    state_.open = Open::kParagraph;
  }
}

void BlockSplitter::readLeafLine(SourceRange line, LineCursor& cursor, std::size_t matched, bool opened) {
  if (cursor.blank()) return;  // a container with nothing in it yet
  const bool inside = matched == state_.containers.size();
  const int indent = cursor.indent();
  if (indent < kCodeIndent) {
    LineCursor visible = cursor;
    visible.skipIndent();
    if (inside && !opened && readUnderline(visible)) return;
    if (isRule(visible.rest())) {
      closeTo(matched);
      newLeaf(LeafKind::kRule);
      return;
    }
    if (headingLevel(visible.rest()) > 0 && line.size() <= kMaxHeading) {
      closeTo(matched);
      readHeading(visible);
      return;
    }
    if (openingFence(visible.rest())) {
      closeTo(matched);
      state_.fenceIndent = indent;
      readFenceStart(line, visible);
      return;
    }
  } else if (state_.open != Open::kParagraph) {
    if (!inside || state_.open != Open::kIndented) {
      closeTo(matched);
      newLeaf(LeafKind::kCode);
      state_.open = Open::kIndented;
    }
    for (const SourceRange blank : std::exchange(state_.blanks, {}))
      addCode(blank);
    cursor.skipColumns(kCodeIndent);
    addCode({offset(line.begin + cursor.position()), line.end});
    return;
  }

  cursor.skipIndent();
  const SourceRange text{offset(line.begin + cursor.position()), line.end};
  const bool row = state_.open == Open::kTable && inside && view(text).find('|') != std::string_view::npos;
  if (state_.open != Open::kParagraph && !row) {
    closeTo(matched);
    newLeaf(LeafKind::kParagraph);
    state_.open = Open::kParagraph;
  }
  addParagraphText(text);
}

void BlockSplitter::readHeading(const LineCursor& visible) {
  const int level = headingLevel(visible.rest());
  std::string_view text = trimmed(visible.rest().substr(static_cast<std::size_t>(level)));
  std::string_view closing = text;
  while (closing.ends_with('#'))
    closing.remove_suffix(1);
  if (closing.empty() || isSpace(closing.back())) text = trimmed(closing);
  Leaf& leaf = newLeaf(LeafKind::kHeading);
  leaf.level = static_cast<std::uint8_t>(level);
  if (text.empty()) return;
  const std::size_t begin = static_cast<std::size_t>(text.data() - source_.data());
  addRange({offset(begin), offset(begin + text.size())});
}

void BlockSplitter::readFenceStart(SourceRange line, const LineCursor& visible) {
  const auto fence = openingFence(visible.rest());
  Leaf& leaf = newLeaf(LeafKind::kCode);
  const std::size_t base = line.begin + visible.position();
  leaf.info = {offset(base + fence->infoBegin), offset(base + fence->infoEnd)};
  state_.open = Open::kFence;
  state_.fenceCharacter = fence->character;
  state_.fenceLength = fence->length;
}

// A line below an open paragraph that makes it a heading, or its last line the head of a table.
bool BlockSplitter::readUnderline(const LineCursor& visible) {
  if (state_.open != Open::kParagraph || leaves_.back().kind != LeafKind::kParagraph) return false;
  Leaf& leaf = leaves_.back();
  if (leaf.lines.empty()) return false;
  if (const int level = setextLevel(visible.rest()); level > 0) {
    leaf.kind = LeafKind::kHeading;
    leaf.level = static_cast<std::uint8_t>(level);
    state_.open = Open::kNone;
    return true;
  }
  std::string aligns = tableAligns(visible.rest());
  const SourceRange head = leaf.lines.back();
  if (aligns.empty() || aligns.size() > kMaxTableColumns || countCells(view(head)) != aligns.size()) {
    return false;
  }
  if (leaf.lines.size() > 1) {
    leaf.lines.pop_back();
    leaf.bytes -= head.size();
    newLeaf(LeafKind::kTable);
    addRange(head);
  } else {
    leaf.kind = LeafKind::kTable;
  }
  leaves_.back().aligns = std::move(aligns);
  state_.open = Open::kTable;
  return true;
}

void BlockSplitter::closeTo(std::size_t matched) {
  state_.containers.resize(matched);
  state_.open = Open::kNone;
  state_.blanks.clear();
}

}  // namespace tandem::markdown
