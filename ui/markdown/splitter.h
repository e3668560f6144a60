// Splits a growing Markdown source into leaves, line by line. A finished line is never looked at again: each
// append re-reads only the last, unfinished line, so a streamed answer costs what its text costs. Whatever
// the cuts between the appends, the leaves are those of the whole text.
//
// The dialect is CommonMark's block structure with GitHub's tables and task boxes, with these differences:
// HTML and reference definitions are paragraphs (nothing is dropped); list numbers are kept as written; a
// fence in a list item takes lines that are indented too little; a last line that could still become
// something else waits for more bytes or for finish(). Budgets (kMax…) bound depth, count and size; what goes
// beyond is kept in plain leaves.
//
// One owner, one thread. Needs no Qt.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ui/markdown/leaf.h"
#include "ui/markdown/line_scan.h"

namespace tandem::markdown {

inline constexpr std::size_t kMaxDepth = 8;              // quotes and list items inside each other
inline constexpr std::size_t kMaxRichLeaves = 500;       // after these everything is plain
inline constexpr std::uint32_t kMaxParagraph = 6 << 10;  // bytes read for inline Markdown
inline constexpr std::uint32_t kMaxPlain = 4 << 10;      // bytes of a plain piece
inline constexpr std::uint32_t kMaxCode = 16 << 10;      // bytes of a code piece
inline constexpr std::size_t kMaxCodeLines = 200;        // of a code piece
inline constexpr std::uint32_t kMaxCodeLine = 2000;      // bytes; code with a longer line is wrapped
inline constexpr std::size_t kMaxTableCells = 200;
inline constexpr std::uint32_t kMaxTable = 8 << 10;  // bytes
inline constexpr std::size_t kMaxTableColumns = 16;
inline constexpr std::size_t kShownLines = 6000;      // lines shown at once
inline constexpr std::size_t kShownStep = 256 << 10;  // bytes shown at once

class BlockSplitter {
 public:
  // `plain`: no Markdown, only plain leaves.
  explicit BlockSplitter(bool plain = false) : plain_(plain) {}

  // Each returns the index of the first leaf that may have changed.
  std::size_t append(std::string_view bytes);
  // The text ends here: nothing is held back any longer. More may be appended later.
  std::size_t finish();
  // Goes on for another kShownStep bytes or kShownLines lines of a source longer than what is shown.
  std::size_t showMore();

  const std::string& source() const { return source_; }
  const std::vector<Leaf>& leaves() const { return leaves_; }
  std::size_t hiddenBytes() const;
  bool finished() const { return finished_; }

 private:
  struct Container {
    char type = 'Q';  // as in Leaf::containers
    int indent = 0;   // list item: columns its further lines are indented by
  };
  enum class Open { kNone, kParagraph, kFence, kIndented, kTable };
  struct State {
    std::vector<Container> containers;
    Open open = Open::kNone;  // what leaves_.back() still takes
    char fenceCharacter = '`';
    std::size_t fenceLength = 0;
    int fenceIndent = 0;
    bool blankBefore = false;
    std::string marker;  // of a list item that has no leaf yet
    TaskBox task = TaskBox::kNone;
    std::vector<SourceRange> blanks;  // blank lines that are code if more of it follows
  };

  std::size_t advance();
  void rollBack();
  void readLine(SourceRange line);
  void readPlainLine(SourceRange line);
  std::size_t matchContainers(LineCursor& cursor) const;
  bool readFenceLine(SourceRange line);
  void readBlank(SourceRange line, std::size_t matched);
  bool openContainers(LineCursor& cursor, std::size_t& matched);
  void openItem(LineCursor& cursor, const ListMarker& marker);
  void readLeafLine(SourceRange line, LineCursor& cursor, std::size_t matched, bool opened);
  void readHeading(const LineCursor& visible);
  void readFenceStart(SourceRange line, const LineCursor& visible);
  bool readUnderline(const LineCursor& visible);
  void closeTo(std::size_t matched);

  Leaf& newLeaf(LeafKind kind);
  void addParagraphText(SourceRange text);
  void addCode(SourceRange text);
  void addPlain(SourceRange text);
  void continueAs(LeafKind kind);
  void addRange(SourceRange text);
  std::size_t cutBefore(std::size_t begin, std::size_t limit) const;
  std::string_view view(SourceRange range) const;

  bool plain_;
  bool finished_ = false;
  std::string source_;
  std::size_t shownLimit_ = kShownStep;
  std::size_t lineLimit_ = kShownLines;
  std::size_t lines_ = 0;       // finished lines read
  std::size_t readTo_ = 0;      // end of the last finished line
  std::size_t searchedTo_ = 0;  // no line end lies in [readTo_, searchedTo_)
  std::vector<Leaf> leaves_;
  State state_;

  // As it was at readTo_, before the unfinished line was read.
  bool provisional_ = false;
  State savedState_;
  std::size_t savedCount_ = 0;
  Leaf savedLast_;
};

}  // namespace tandem::markdown
