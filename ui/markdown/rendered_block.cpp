#include "ui/markdown/rendered_block.h"

#include <algorithm>
#include <utility>

#include "ui/markdown/inline_parser.h"
#include "ui/markdown/line_scan.h"

namespace tandem::markdown {

namespace {

constexpr QChar kReplacement(0xFFFD);

// Characters a QTextDocument gives a meaning of its own become harmless ones; the length stays.
void makeSafe(QString& text, bool keepNewlines) {
  for (QChar& c : text) {
    const char16_t unit = c.unicode();
    if (unit == u'\n') {
      if (!keepNewlines) c = QChar::LineSeparator;
    } else if (unit == u'\r' || unit == 0x2029) {
      c = QChar::LineSeparator;
    } else if (unit == 0 || unit == 0xFDD0 || unit == 0xFDD1 || unit == 0xFFFC) {
      c = kReplacement;
    }
  }
}

// Appends a run that shows the bytes of `range`, or `shown` in their place.
void appendRun(RenderedBlock& block, std::string_view bytes, SourceRange range, std::uint8_t style, int link,
               bool keepNewlines) {
  QString text = QString::fromUtf8(bytes.data(), static_cast<qsizetype>(bytes.size()));
  makeSafe(text, keepNewlines);
  block.runs.push_back(
      {static_cast<int>(block.text.size()), static_cast<int>(text.size()), range, style, link});
  block.text += text;
}

void appendInline(RenderedBlock& block, const std::vector<SourceRange>& lines, std::string_view source,
                  bool cell) {
  std::string joined;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> starts;  // offset in `joined`, offset in the source
  for (const SourceRange& line : lines) {
    if (!joined.empty()) joined += '\n';
    starts.emplace_back(static_cast<std::uint32_t>(joined.size()), line.begin);
    joined += source.substr(line.begin, line.size());
  }
  const InlineText parsed = parseInline(joined, cell);
  std::size_t line = 0;
  for (const InlineRun& run : parsed.runs) {
    while (line + 1 < starts.size() && run.begin >= starts[line + 1].first)
      ++line;
    const std::uint32_t base = starts[line].second;
    const SourceRange range{base + run.begin - starts[line].first, base + run.end - starts[line].first};
    const std::string_view bytes = run.shown.empty()
                                       ? std::string_view(joined).substr(run.begin, run.end - run.begin)
                                       : std::string_view(run.shown);
    const int link = run.link < 0 ? -1 : run.link + static_cast<int>(block.links.size());
    appendRun(block, bytes, range, run.style, link, false);
  }
  for (const std::string& link : parsed.links)
    block.links.append(QString::fromStdString(link));
}

// The cells of a table row, outer bars and white space left out.
std::vector<SourceRange> splitRow(SourceRange row, std::string_view source) {
  const auto trim = [&](std::uint32_t begin, std::uint32_t end) {
    while (begin < end && isSpace(source[begin]))
      ++begin;
    while (begin < end && isSpace(source[end - 1]))
      --end;
    return SourceRange{begin, end};
  };
  row = trim(row.begin, row.end);
  if (row.size() > 0 && source[row.begin] == '|') ++row.begin;
  std::vector<SourceRange> cells;
  std::uint32_t begin = row.begin;
  for (std::uint32_t i = row.begin; i < row.end; ++i) {
    if (source[i] == '\\') {
      ++i;
    } else if (source[i] == '|') {
      cells.push_back(trim(begin, i));
      begin = i + 1;
    }
  }
  if (begin < row.end || cells.empty()) cells.push_back(trim(begin, row.end));
  return cells;
}

void renderTable(RenderedBlock& block, const Leaf& leaf, std::string_view source) {
  block.columns = static_cast<int>(leaf.aligns.size());
  for (std::size_t row = 0; row < leaf.lines.size(); ++row) {
    std::vector<SourceRange> cells = splitRow(leaf.lines[row], source);
    if (cells.size() > leaf.aligns.size()) {  // what is too much stays visible in the last column
      cells[leaf.aligns.size() - 1].end = cells.back().end;
    }
    cells.resize(leaf.aligns.size());
    for (std::size_t column = 0; column < cells.size(); ++column) {
      if (row + column > 0) block.text += column > 0 ? u'\t' : u'\n';
      const int start = static_cast<int>(block.text.size());
      if (cells[column].size() > 0) appendInline(block, {cells[column]}, source, true);
      block.cells.push_back({start, static_cast<int>(block.text.size()) - start});
    }
  }
}

void appendLineEnd(RenderedBlock& block, SourceRange line, std::string_view source) {
  if (line.size() == 0 || source[line.end - 1] != '\n') return;
  const bool two = line.size() > 1 && source[line.end - 2] == '\r';
  appendRun(block, "\n", {line.end - (two ? 2 : 1), line.end}, 0, -1, true);
}

// Code and plain text: everything as it stands but the last line end.
void renderVerbatim(RenderedBlock& block, const Leaf& leaf, std::string_view source, std::size_t fromLine) {
  for (std::size_t i = fromLine; i < leaf.lines.size(); ++i) {
    if (i > 0) appendLineEnd(block, leaf.lines[i - 1], source);
    std::string_view bytes = source.substr(leaf.lines[i].begin, leaf.lines[i].size());
    if (bytes.ends_with('\n')) bytes.remove_suffix(1);
    if (bytes.ends_with('\r')) bytes.remove_suffix(1);
    const std::uint32_t end = leaf.lines[i].begin + static_cast<std::uint32_t>(bytes.size());
    appendRun(block, bytes, {leaf.lines[i].begin, end}, 0, -1, true);
  }
}

bool startsRightToLeft(const QString& text) {
  for (const QChar c : text) {
    const QChar::Direction direction = c.direction();
    if (direction == QChar::DirR || direction == QChar::DirAL) return true;
    if (direction == QChar::DirL) return false;
  }
  return false;
}

// UTF-16 units that the first `bytes` bytes of a run stand for.
int unitsBefore(const TextRun& run, std::string_view source, std::uint32_t bytes) {
  if (bytes >= run.source.size()) return run.length;
  if (static_cast<std::uint32_t>(run.length) == run.source.size()) return static_cast<int>(bytes);
  int units = 0;
  for (std::uint32_t i = 0; i < bytes; ++i) {
    const auto byte = static_cast<unsigned char>(source[run.source.begin + i]);
    if ((byte & 0xC0) != 0x80) units += byte >= 0xF0 ? 2 : 1;
  }
  return std::min(units, run.length);
}

}  // namespace

RenderedBlock renderLeaf(const Leaf& leaf, std::string_view source) {
  RenderedBlock block;
  switch (leaf.kind) {
    case LeafKind::kParagraph:
    case LeafKind::kHeading:
      appendInline(block, leaf.lines, source, false);
      break;
    case LeafKind::kTable:
      renderTable(block, leaf, source);
      break;
    case LeafKind::kCode:
    case LeafKind::kPlain:
      renderVerbatim(block, leaf, source, 0);
      break;
    case LeafKind::kRule:
      break;
  }
  block.rightToLeft = leaf.kind != LeafKind::kCode && startsRightToLeft(block.text);
  return block;
}

void renderMore(RenderedBlock& block, const Leaf& leaf, std::string_view source, std::size_t fromLine) {
  // The line end before `fromLine` is rendered together with that line.
  const std::uint32_t kept = fromLine > 0 ? leaf.lines[fromLine - 1].end : 0;
  const auto keep = [&](const TextRun& run) {
    const bool lineEnd = run.source.end == kept && source[run.source.end - 1] == '\n';
    return fromLine > 0 && run.source.end <= kept && !lineEnd;
  };
  while (!block.runs.empty() && !keep(block.runs.back()))
    block.runs.pop_back();
  block.text.truncate(block.runs.empty() ? 0 : block.runs.back().start + block.runs.back().length);
  renderVerbatim(block, leaf, source, fromLine);
}

std::vector<TintSpan> tintSpans(const RenderedBlock& block, std::string_view source,
                                const OriginMap& origins) {
  std::vector<TintSpan> spans;
  for (const TextRun& run : block.runs) {
    for (auto span = origins.from(run.source.begin); span != origins.end(); ++span) {
      if (span->begin >= static_cast<qsizetype>(run.source.end)) break;
      if (span->origin == 0) continue;
      const auto first = static_cast<std::uint32_t>(std::max<qsizetype>(span->begin - run.source.begin, 0));
      const auto last = static_cast<std::uint32_t>(span->end - run.source.begin);
      const int start = run.start + unitsBefore(run, source, first);
      const int end = run.start + unitsBefore(run, source, last);
      if (end <= start) continue;
      TintSpan* before = spans.empty() ? nullptr : &spans.back();
      if (before && before->origin == span->origin && before->start + before->length == start) {
        before->length += end - start;
      } else {
        spans.push_back({start, end - start, span->origin});
      }
    }
  }
  return spans;
}

std::string leafBytes(const Leaf& leaf, std::string_view source) {
  std::string bytes;
  for (const SourceRange& line : leaf.lines)
    bytes += source.substr(line.begin, line.size());
  return bytes;
}

}  // namespace tandem::markdown
