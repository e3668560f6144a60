// The working form of one inline text: a list of nodes in order, and styles as marks at the nodes where they
// begin and end, so that applying one costs nothing however much it spans. Internal to the inline parser.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ui/markdown/inline_parser.h"

namespace tandem::markdown {

struct InlineNode {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint8_t style = kStyleNone;  // of the node itself: code, mathematics
  std::int32_t link = -1;
  std::string shown;
  char delimiter = 0;  // '*', '_' or '~' for a run of them
  bool canOpen = false;
  bool canClose = false;
  std::uint32_t length = 0;  // of a run of delimiters, before any were used
};

class InlineNodes {
 public:
  explicit InlineNodes(std::string_view text) : text_(text) {}

  std::size_t size() const { return nodes_.size(); }
  InlineNode& operator[](std::size_t index) { return nodes_[index]; }
  void add(InlineNode node);
  void addText(std::size_t begin, std::size_t end, std::uint8_t style = kStyleNone);
  void addShown(std::size_t begin, std::size_t end, std::string shown, std::uint8_t style = kStyleNone);
  // A run of delimiters, with what it can do judged by the characters around it.
  void addDelimiters(std::size_t begin, std::size_t end);
  // Gives the nodes [first, last) a style, and a link in place of their own (-1: they keep theirs).
  void mark(std::size_t first, std::size_t last, std::uint8_t style, std::int32_t link);
  // Pairs the delimiters among the nodes [first, size()).
  void pairDelimiters(std::size_t first);
  // The visible runs, styles and links applied.
  std::vector<InlineRun> runs() const;

 private:
  struct Mark {
    std::uint32_t node;
    std::uint8_t style;
    int change;  // +1 or -1
  };

  void emit(std::vector<InlineRun>& out, const InlineNode& node, std::uint8_t style) const;

  std::string_view text_;
  std::vector<InlineNode> nodes_;
  std::vector<Mark> marks_;
};

}  // namespace tandem::markdown
