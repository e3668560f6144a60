// The flat pieces a Markdown source is split into. A leaf holds no text: it names byte ranges of the source,
// so that copying is exact and colours by origin can be mapped. Plain data, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tandem::markdown {

// Bytes [begin, end) of the source.
struct SourceRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  std::uint32_t size() const { return end - begin; }
  bool operator==(const SourceRange&) const = default;
};

enum class LeafKind : std::uint8_t {
  kParagraph,
  kHeading,
  kCode,
  kTable,
  kRule,
  kPlain,  // shown as it stands: beyond a budget, or a message without Markdown
};

enum class TaskBox : std::uint8_t { kNone, kOpen, kDone };

struct Leaf {
  LeafKind kind = LeafKind::kParagraph;
  std::uint8_t level = 0;  // heading: 1 to 6
  TaskBox task = TaskBox::kNone;
  bool continues = false;  // goes on where the leaf before was cut by a budget
  bool tight = false;      // follows its neighbour in a list without a blank line
  bool wrap = false;       // code: holds a line too long for a scroll bar
  std::string containers;  // outermost first: 'Q' a quote, 'L' a list item
  std::string marker;      // first leaf of a list item: "•" or the number as written ("3.")
  std::string aligns;      // table: one of 'l', 'c', 'r', '-' a column
  SourceRange info;        // code: the language
  // One range a line. Paragraphs, headings and table rows: without indentation and line end. Code and plain:
  // with the line end, so that the ranges joined are the exact bytes.
  std::vector<SourceRange> lines;
  std::uint32_t bytes = 0;  // sum of the ranges

  bool operator==(const Leaf&) const = default;
};

}  // namespace tandem::markdown
