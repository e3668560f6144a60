// What one line of Markdown could start: the small questions the splitter asks about it. A LineCursor walks
// over the indentation in columns (a tab goes to the next multiple of four). Pure functions, any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tandem::markdown {

class LineCursor {
 public:
  // `line` is one line without its line end.
  explicit LineCursor(std::string_view line) : line_(line) {}

  std::size_t position() const { return position_; }
  std::string_view rest() const { return line_.substr(position_); }
  // Columns of white space before the next visible character.
  int indent() const;
  // True when nothing but white space is left.
  bool blank() const;
  // Walks over white space, at most `columns` of it. Half a tab is remembered as columns still to walk.
  void skipColumns(int columns);
  void skipIndent() { skipColumns(indent()); }
  // Walks over `bytes` visible characters.
  void skipBytes(std::size_t bytes);

 private:
  std::string_view line_;
  std::size_t position_ = 0;
  int column_ = 0;
  int pending_ = 0;  // columns of a tab that was walked over in part
};

struct ListMarker {
  bool ordered = false;
  std::string shown;      // "•", or the number with its delimiter as written
  std::size_t width = 0;  // bytes of the marker
  bool startsAtOne = true;
};

struct Fence {
  char character = '`';
  std::size_t length = 0;
  std::size_t infoBegin = 0;  // the first word of the info string, as offsets into the text given
  std::size_t infoEnd = 0;
};

// Each takes the rest of a line after its indentation.
bool isRule(std::string_view text);
// 1 for "===", 2 for "---", 0 for neither.
int setextLevel(std::string_view text);
// 1 to 6 for "# …", else 0.
int headingLevel(std::string_view text);
std::optional<Fence> openingFence(std::string_view text);
bool closesFence(std::string_view text, char character, std::size_t length);
// A bullet or number followed by white space or the end of the line.
std::optional<ListMarker> listMarker(std::string_view text);
// One of 'l', 'c', 'r', '-' per column of a table's delimiter row; empty when the text is none.
std::string tableAligns(std::string_view text);
// How many cells a table row has.
std::size_t countCells(std::string_view text);
// True for an unfinished line that the next bytes could turn into something else ("--", "`", "1.").
bool isUndecided(std::string_view line);

bool isSpace(char c);
std::string_view trimmed(std::string_view text);

}  // namespace tandem::markdown
