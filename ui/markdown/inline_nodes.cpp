#include "ui/markdown/inline_nodes.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace tandem::markdown {

namespace {

enum class Around { kSpace, kPunctuation, kWide, kLetter };

// Decodes the character that begins at `at`; broken UTF-8 gives U+FFFD.
char32_t decode(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned first = byte(at);
  if (first < 0x80) return first;
  const unsigned more = byte(at + 1) & 0x3F;
  if (first < 0xE0) return ((first & 0x1F) << 6) | more;
  if (first < 0xF0) return ((first & 0x0F) << 12) | (more << 6) | (byte(at + 2) & 0x3F);
  return ((first & 0x07) << 18) | (more << 12) | ((byte(at + 2) & 0x3F) << 6) | (byte(at + 3) & 0x3F);
}

// Wide: Chinese, Japanese and Korean, which put no spaces around words, so that emphasis may begin and end
// anywhere between them.
Around classify(char32_t c) {
  if (c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == 0xA0 || (c >= 0x2000 && c <= 0x200A)) {
    return Around::kSpace;
  }
  if (c < 0x80) {
    const bool word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return word || c < 0x20 ? Around::kLetter : Around::kPunctuation;
  }
  if ((c >= 0xA1 && c <= 0xBF) || (c >= 0x2010 && c <= 0x206F) || (c >= 0x20A0 && c <= 0x2BFF)) {
    return Around::kPunctuation;
  }
  return c >= 0x2E80 ? Around::kWide : Around::kLetter;
}

Around before(std::string_view text, std::size_t at) {
  if (at == 0) return Around::kSpace;
  std::size_t begin = at - 1;
  while (begin > 0 && at - begin < 4 && (text[begin] & 0xC0) == 0x80)
    --begin;
  return classify(decode(text, begin));
}

Around after(std::string_view text, std::size_t at) {
  return at >= text.size() ? Around::kSpace : classify(decode(text, at));
}

bool isEdge(Around around) {
  return around == Around::kSpace || around == Around::kPunctuation;
}

}  // namespace

void InlineNodes::add(InlineNode node) {
  nodes_.push_back(std::move(node));
}

void InlineNodes::addText(std::size_t begin, std::size_t end, std::uint8_t style) {
  if (begin < end) addShown(begin, end, {}, style);
}

void InlineNodes::addShown(std::size_t begin, std::size_t end, std::string shown, std::uint8_t style) {
  InlineNode node;
  node.begin = static_cast<std::uint32_t>(begin);
  node.end = static_cast<std::uint32_t>(end);
  node.style = style;
  node.shown = std::move(shown);
  nodes_.push_back(std::move(node));
}

void InlineNodes::addDelimiters(std::size_t begin, std::size_t end) {
  const Around left = before(text_, begin);
  const Around right = after(text_, end);
  const bool wide = left == Around::kWide || right == Around::kWide;
  const bool opens = right != Around::kSpace && (right != Around::kPunctuation || isEdge(left) || wide);
  const bool closes = left != Around::kSpace && (left != Around::kPunctuation || isEdge(right) || wide);
  addText(begin, end);
  InlineNode& node = nodes_.back();
  node.delimiter = text_[begin];
  node.length = node.end - node.begin;
  node.canOpen = opens;
  node.canClose = closes;
  if (node.delimiter == '_') {  // snake_case is no emphasis
    node.canOpen = opens && (!closes || left == Around::kPunctuation);
    node.canClose = closes && (!opens || right == Around::kPunctuation);
  }
  if (node.delimiter == '~' && node.length != 2) node.canOpen = node.canClose = false;
}

void InlineNodes::mark(std::size_t first, std::size_t last, std::uint8_t style, std::int32_t link) {
  if (style != kStyleNone) {
    marks_.push_back({static_cast<std::uint32_t>(first), style, 1});
    marks_.push_back({static_cast<std::uint32_t>(last), style, -1});
  }
  if (link < 0) return;
  for (std::size_t i = first; i < last; ++i)
    nodes_[i].link = link;
}

// CommonMark's rules for emphasis. `bottom` remembers for each kind of closer below which node no opener is
// left, so that the search stays linear.
void InlineNodes::pairDelimiters(std::size_t first) {
  std::vector<std::size_t> openers;
  std::map<std::tuple<char, bool, std::uint32_t>, std::size_t> bottom;
  for (std::size_t i = first; i < nodes_.size(); ++i) {
    if (nodes_[i].delimiter == 0) continue;
    while (nodes_[i].canClose && nodes_[i].begin < nodes_[i].end) {
      InlineNode& closer = nodes_[i];
      std::size_t& floor = bottom[{closer.delimiter, closer.canOpen, closer.length % 3}];
      std::size_t at = openers.size();
      while (at > floor) {
        const InlineNode& opener = nodes_[openers[at - 1]];
        const bool both = (opener.canClose || closer.canOpen) && closer.delimiter != '~';
        const bool odd = both && (opener.length + closer.length) % 3 == 0 &&
                         !(opener.length % 3 == 0 && closer.length % 3 == 0);
        if (opener.delimiter == closer.delimiter && !odd) break;
        --at;
      }
      if (at <= floor) {
        floor = openers.size();
        break;
      }
      InlineNode& opener = nodes_[openers[at - 1]];
      const std::uint32_t used =
          std::min({opener.end - opener.begin, closer.end - closer.begin, std::uint32_t{2}});
      const std::uint8_t style = closer.delimiter == '~' ? kStyleStrike
                                 : used == 2             ? kStyleBold
                                                         : kStyleItalic;
      mark(openers[at - 1] + 1, i, style, -1);
      opener.end -= used;
      closer.begin += used;
      openers.resize(opener.begin < opener.end ? at : at - 1);
      for (auto& [kind, lowest] : bottom)
        lowest = std::min(lowest, openers.size());
    }
    if (nodes_[i].canOpen && nodes_[i].begin < nodes_[i].end) openers.push_back(i);
  }
  for (std::size_t i = first; i < nodes_.size(); ++i)
    nodes_[i].delimiter = 0;
}

std::vector<InlineRun> InlineNodes::runs() const {
  std::vector<Mark> marks = marks_;
  std::stable_sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) { return a.node < b.node; });
  std::vector<InlineRun> out;
  std::array<int, 8> depth{};
  std::size_t next = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    for (; next < marks.size() && marks[next].node == i; ++next) {
      for (std::size_t bit = 0; bit < depth.size(); ++bit) {
        if (marks[next].style & (1u << bit)) depth[bit] += marks[next].change;
      }
    }
    std::uint8_t style = nodes_[i].style;
    for (std::size_t bit = 0; bit < depth.size(); ++bit) {
      if (depth[bit] > 0) style |= static_cast<std::uint8_t>(1u << bit);
    }
    emit(out, nodes_[i], style);
  }
  return out;
}

// Splits a node at its line ends and joins it to the run before where nothing differs.
void InlineNodes::emit(std::vector<InlineRun>& out, const InlineNode& node, std::uint8_t style) const {
  if (!node.shown.empty()) {
    out.push_back({node.begin, node.end, style, node.link, node.shown});
    return;
  }
  for (std::uint32_t begin = node.begin; begin < node.end;) {
    const bool newline = text_[begin] == '\n';
    std::uint32_t end = begin + 1;
    while (!newline && end < node.end && text_[end] != '\n')
      ++end;
    InlineRun* last = out.empty() ? nullptr : &out.back();
    if (last && !newline && last->shown.empty() && last->end == begin && last->style == style &&
        last->link == node.link && text_[last->begin] != '\n') {
      last->end = end;
    } else {
      out.push_back({begin, end, style, node.link, {}});
    }
    begin = end;
  }
}

}  // namespace tandem::markdown
