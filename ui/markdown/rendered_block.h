// A leaf made visible: UTF-16 text for a QTextDocument, runs of one style each, and for every run the bytes
// of the source it shows, which is what tints by origin are mapped with. Values, any thread.
#pragma once

#include <QString>
#include <QStringList>
#include <string_view>
#include <vector>

#include "ui/markdown/leaf.h"
#include "ui/markdown/origin_runs.h"

namespace tandem::markdown {

struct TextRun {
  int start = 0;  // UTF-16 units of RenderedBlock::text
  int length = 0;
  SourceRange source;      // the bytes shown; as long as the text when all is ASCII
  std::uint8_t style = 0;  // InlineStyle bits
  int link = -1;           // index into RenderedBlock::links

  bool sameLook(const TextRun& other) const {
    return start == other.start && length == other.length && style == other.style && link == other.link;
  }
};

struct TableCell {
  int start = 0;  // of its text, in UTF-16 units
  int length = 0;
};

struct RenderedBlock {
  QString text;  // lines of one paragraph are split by U+2028, lines of code by "\n", cells by "\t" and "\n"
  std::vector<TextRun> runs;
  QStringList links;
  std::vector<TableCell> cells;  // row by row, the head first
  int columns = 0;
  bool rightToLeft = false;  // the first letter with a direction is written from right to left
};

// UTF-16 units [start, start + length) of a rendered text with an origin other than 0.
struct TintSpan {
  int start = 0;
  int length = 0;
  int origin = 0;
};

// `source` is the text the leaf's ranges point into.
RenderedBlock renderLeaf(const Leaf& leaf, std::string_view source);

// Renders a code or plain leaf again from line `fromLine` on; what is rendered of the lines before is kept.
// REQUIRES: `block` is a rendering of a leaf with the same first `fromLine` lines
void renderMore(RenderedBlock& block, const Leaf& leaf, std::string_view source, std::size_t fromLine);

// The parts of a block that have an origin, in order; touching parts of one origin are joined.
std::vector<TintSpan> tintSpans(const RenderedBlock& block, std::string_view source,
                                const OriginMap& origins);

// The bytes of a code leaf's lines joined. A chain of continued leaves gives the code of the whole block.
std::string leafBytes(const Leaf& leaf, std::string_view source);

}  // namespace tandem::markdown
