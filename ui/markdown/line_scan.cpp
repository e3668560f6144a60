#include "ui/markdown/line_scan.h"

#include <algorithm>

namespace tandem::markdown {

namespace {

constexpr int kTab = 4;
constexpr std::size_t kMaxUndecided = 200;  // bytes; longer lines of dashes are shown as they come

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

std::size_t runLength(std::string_view text, char c) {
  const std::size_t end = text.find_first_not_of(c);
  return end == std::string_view::npos ? text.size() : end;
}

}  // namespace

bool isSpace(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && isSpace(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && isSpace(text.back()))
    text.remove_suffix(1);
  return text;
}

int LineCursor::indent() const {
  int column = column_;
  for (std::size_t i = position_; i < line_.size(); ++i) {
    if (line_[i] == ' ') {
      ++column;
    } else if (line_[i] == '\t') {
      column += kTab - column % kTab;
    } else {
      break;
    }
  }
  return column - column_ + pending_;
}

bool LineCursor::blank() const {
  return std::all_of(line_.begin() + static_cast<std::ptrdiff_t>(position_), line_.end(), isSpace);
}

void LineCursor::skipColumns(int columns) {
  const int fromPending = std::min(columns, pending_);
  pending_ -= fromPending;
  columns -= fromPending;
  while (columns > 0 && position_ < line_.size()) {
    int width = 1;
    if (line_[position_] == '\t') {
      width = kTab - column_ % kTab;
    } else if (line_[position_] != ' ') {
      break;
    }
    column_ += width;
    ++position_;
    pending_ = std::max(0, width - columns);
    columns -= std::min(columns, width);
  }
}

void LineCursor::skipBytes(std::size_t bytes) {
  position_ += bytes;
  column_ += static_cast<int>(bytes);
}

bool isRule(std::string_view text) {
  text = trimmed(text);
  if (text.empty() || (text[0] != '-' && text[0] != '*' && text[0] != '_')) return false;
  std::size_t count = 0;
  for (const char c : text) {
    if (c == text[0]) {
      ++count;
    } else if (!isSpace(c)) {
      return false;
    }
  }
  return count >= 3;
}

int setextLevel(std::string_view text) {
  text = trimmed(text);
  if (text.empty() || (text[0] != '=' && text[0] != '-') || runLength(text, text[0]) != text.size()) return 0;
  return text[0] == '=' ? 1 : 2;
}

int headingLevel(std::string_view text) {
  const std::size_t hashes = runLength(text, '#');
  if (hashes < 1 || hashes > 6) return 0;
  return hashes == text.size() || isSpace(text[hashes]) ? static_cast<int>(hashes) : 0;
}

std::optional<Fence> openingFence(std::string_view text) {
  if (text.empty() || (text[0] != '`' && text[0] != '~')) return std::nullopt;
  Fence fence{text[0], runLength(text, text[0]), 0, 0};
  const std::string_view info = trimmed(text.substr(fence.length));
  if (fence.length < 3 || (fence.character == '`' && info.find('`') != std::string_view::npos)) {
    return std::nullopt;
  }
  fence.infoBegin = info.empty() ? text.size() : static_cast<std::size_t>(info.data() - text.data());
  fence.infoEnd = fence.infoBegin;
  while (fence.infoEnd < text.size() && !isSpace(text[fence.infoEnd]))
    ++fence.infoEnd;
  return fence;
}

bool closesFence(std::string_view text, char character, std::size_t length) {
  text = trimmed(text);
  return text.size() >= length && runLength(text, character) == text.size();
}

std::optional<ListMarker> listMarker(std::string_view text) {
  if (text.empty()) return std::nullopt;
  ListMarker marker;
  if (text[0] == '-' || text[0] == '*' || text[0] == '+') {
    marker.shown = "•";
    marker.width = 1;
  } else {
    std::size_t digits = 0;
    while (digits < text.size() && isDigit(text[digits]))
      ++digits;
    if (digits < 1 || digits > 9 || digits == text.size()) return std::nullopt;
    if (text[digits] != '.' && text[digits] != ')') return std::nullopt;
    marker.ordered = true;
    marker.width = digits + 1;
    marker.shown = std::string(text.substr(0, marker.width));
    marker.startsAtOne = digits == 1 && text[0] == '1';
  }
  if (marker.width < text.size() && !isSpace(text[marker.width])) return std::nullopt;
  return marker;
}

std::string tableAligns(std::string_view text) {
  text = trimmed(text);
  if (text.find('|') == std::string_view::npos) return {};
  if (text.front() == '|') text.remove_prefix(1);
  if (!text.empty() && text.back() == '|') text.remove_suffix(1);
  std::string aligns;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('|', begin), text.size());
    std::string_view cell = trimmed(text.substr(begin, end - begin));
    const bool left = !cell.empty() && cell.front() == ':';
    if (left) cell.remove_prefix(1);
    const bool right = !cell.empty() && cell.back() == ':';
    if (right) cell.remove_suffix(1);
    if (cell.empty() || runLength(cell, '-') != cell.size()) return {};
    aligns += left && right ? 'c' : left ? 'l' : right ? 'r' : '-';
    begin = end + 1;
  }
  return aligns;
}

std::size_t countCells(std::string_view text) {
  text = trimmed(text);
  if (!text.empty() && text.front() == '|') text.remove_prefix(1);
  if (!text.empty() && text.back() == '|' && !(text.size() > 1 && text[text.size() - 2] == '\\')) {
    text.remove_suffix(1);
  }
  std::size_t cells = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '|') {
      ++cells;
    }
  }
  return cells;
}

bool isUndecided(std::string_view line) {
  if (line.size() > kMaxUndecided) return false;
  if (line.find_first_not_of("-=*_`~+#>|: \t\r") == std::string_view::npos) return true;
  std::string_view text = trimmed(line);
  std::size_t digits = 0;
  while (digits < text.size() && isDigit(text[digits]))
    ++digits;
  return digits >= 1 && digits <= 9 && text.size() == digits + 1 &&
         (text[digits] == '.' || text[digits] == ')');
}

}  // namespace tandem::markdown
