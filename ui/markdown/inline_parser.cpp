#include "ui/markdown/inline_parser.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "ui/markdown/inline_nodes.h"
#include "ui/markdown/inline_scan.h"

namespace tandem::markdown {

namespace {

// Markup a backslash takes the meaning from. Brackets and parentheses are not among them: a model's
// "\(x\)" is mathematics and stays as it is.
constexpr std::string_view kEscapable = "*_`#>~|-+.!<&\\";

class Parser {
 public:
  Parser(std::string_view text, bool cell)
      : text_(text), cell_(cell), nodes_(text), backticks_(text), bracketMath_(text) {}

  InlineText parse() {
    while (at_ < text_.size())
      step();
    flush(at_);
    nodes_.pairDelimiters(0);
    return {nodes_.runs(), std::move(links_)};
  }

 private:
  struct Bracket {
    std::size_t node;  // index of the node that shows the bracket
    bool image;
    bool active;  // false: inside a link already, or around one
  };

  void step() {
    switch (text_[at_]) {
      case '\\':
        return backslash();
      case '`':
        return codeSpan();
      case '$':
        return literal(dollarMath(text_, at_), kStyleMath);
      case '*':
      case '_':
      case '~':
        return delimiters();
      case '<':
        return autolink();
      case '&':
        return entity();
      case '[':
        return openBracket(at_, false);
      case '!':
        if (at_ + 1 < text_.size() && text_[at_ + 1] == '[') return openBracket(at_, true);
        break;
      case ']':
        return closeBracket();
      case 'h':
      case 'w':
        return bareAddress();
      case '\n':
        flush(at_);
        nodes_.addText(at_, at_ + 1);
        plain_ = ++at_;
        return;
      default:
        break;
    }
    ++at_;
  }

  // Text from plain_ to `end` was nothing special.
  void flush(std::size_t end) {
    nodes_.addText(plain_, end);
    plain_ = end;
  }

  // Shows [at_, end) as it stands; end == at_ means it was nothing special.
  void literal(std::size_t end, std::uint8_t style) {
    if (end == at_) {
      ++at_;
      return;
    }
    flush(at_);
    nodes_.addText(at_, end, style);
    at_ = plain_ = end;
  }

  void backslash() {
    if (at_ + 1 >= text_.size()) {
      ++at_;
      return;
    }
    const char next = text_[at_ + 1];
    if (next == '(' || next == '[') {
      const std::size_t end = bracketMath_.end(at_);
      if (end == at_) {
        at_ += 2;
      } else {
        literal(end, kStyleMath);
      }
      return;
    }
    if (next == ')' || next == ']') {
      at_ += 2;
      return;
    }
    if (next != '\n' && kEscapable.find(next) == std::string_view::npos) {
      ++at_;
      return;
    }
    flush(at_);
    plain_ = ++at_;
    if (next != '\n') ++at_;
  }

  void codeSpan() {
    const auto span = backticks_.span(at_);
    if (!span.closed) {
      at_ = span.contentBegin;
      return;
    }
    flush(at_);
    std::size_t begin = span.contentBegin;
    std::size_t end = span.contentEnd;
    const std::string_view content = text_.substr(begin, end - begin);
    const bool padded = content.size() > 2 && content.front() == ' ' && content.back() == ' ' &&
                        content.find_first_not_of(' ') != std::string_view::npos;
    if (padded) {
      ++begin;
      --end;
    }
    std::size_t from = begin;
    for (std::size_t i = begin; i < end; ++i) {
      if (text_[i] == '\n') {
        nodes_.addText(from, i, kStyleCode);
        nodes_.addShown(i, i + 1, " ", kStyleCode);
        from = i + 1;
      } else if (cell_ && text_[i] == '\\' && i + 1 < end && text_[i + 1] == '|') {
        nodes_.addText(from, i, kStyleCode);
        from = i + 1;
      }
    }
    nodes_.addText(from, end, kStyleCode);
    at_ = plain_ = span.end;
  }

  void delimiters() {
    std::size_t end = at_;
    while (end < text_.size() && text_[end] == text_[at_])
      ++end;
    flush(at_);
    nodes_.addDelimiters(at_, end);
    at_ = plain_ = end;
  }

  void autolink() {
    const std::size_t end = text_.find_first_of("> \n<", at_ + 1);
    if (end == std::string_view::npos || text_[end] != '>') {
      ++at_;
      return;
    }
    const auto target = linkTarget(text_.substr(at_ + 1, end - at_ - 1), true);
    if (!target) {
      ++at_;
      return;
    }
    flush(at_);
    addLink(at_ + 1, end, *target);
    at_ = plain_ = end + 1;
  }

  void bareAddress() {
    const std::size_t end = bareAddressEnd(text_, at_);
    const auto target = end == at_ ? std::nullopt : linkTarget(text_.substr(at_, end - at_), false);
    if (!target) {
      ++at_;
      return;
    }
    flush(at_);
    addLink(at_, end, *target);
    at_ = plain_ = end;
  }

  void addLink(std::size_t begin, std::size_t end, std::string target) {
    nodes_.addText(begin, end);
    nodes_[nodes_.size() - 1].link = static_cast<std::int32_t>(links_.size());
    links_.push_back(std::move(target));
  }

  void entity() {
    const auto found = entityAt(text_, at_);
    if (!found) {
      ++at_;
      return;
    }
    flush(at_);
    nodes_.addShown(at_, at_ + found->length, found->shown);
    at_ += found->length;
    plain_ = at_;
  }

  void openBracket(std::size_t begin, bool image) {
    flush(begin);
    brackets_.push_back({nodes_.size(), image, true});
    at_ = plain_ = begin + (image ? 2 : 1);
    nodes_.addText(begin, at_);
  }

  void closeBracket() {
    if (brackets_.empty()) {
      ++at_;
      return;
    }
    const Bracket open = brackets_.back();
    brackets_.pop_back();
    const auto destination = open.active || open.image ? linkDestination(text_, at_ + 1) : std::nullopt;
    const auto target =
        destination
            ? linkTarget(text_.substr(destination->begin, destination->end - destination->begin), false)
            : std::nullopt;
    if (!destination || (!target && !open.image)) {
      ++at_;
      return;
    }
    flush(at_);
    nodes_.pairDelimiters(open.node + 1);
    std::int32_t link = -1;
    if (target && open.active) {
      link = static_cast<std::int32_t>(links_.size());
      links_.push_back(*target);
    }
    if (!open.image && nodes_.size() == open.node + 1) {
      nodes_.addText(destination->begin, destination->end);
    }
    if (open.image) {
      if (nodes_.size() > open.node + 1) nodes_.addShown(at_, at_, " ");
      nodes_.addText(at_ + 1, destination->textEnd);
      nodes_.addText(destination->closing, destination->closing + 1);
    }
    nodes_[open.node].end = nodes_[open.node].begin;
    nodes_.mark(open.node + 1, nodes_.size(), open.image ? kStyleImage : kStyleNone, link);
    if (!open.image) {
      for (Bracket& outer : brackets_)
        outer.active = false;
    }
    at_ = plain_ = destination->closing + 1;
  }

  std::string_view text_;
  bool cell_;
  InlineNodes nodes_;
  Backticks backticks_;
  BracketMath bracketMath_;
  std::vector<std::string> links_;
  std::vector<Bracket> brackets_;
  std::size_t at_ = 0;
  std::size_t plain_ = 0;  // begin of the text not yet made a node
};

}  // namespace

InlineText parseInline(std::string_view text, bool cell) {
  return Parser(text, cell).parse();
}

}  // namespace tandem::markdown
