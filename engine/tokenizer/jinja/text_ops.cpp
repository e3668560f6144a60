#include "engine/tokenizer/jinja/text_ops.h"

#include <algorithm>

#include "engine/tokenizer/jinja/arena.h"
#include "engine/tokenizer/jinja/utf8.h"

namespace tandem::jinja {
namespace {

bool isStripped(std::uint32_t code, const std::string_view* chars) {
  if (!chars) return utf8::isSpace(code);
  for (std::size_t i = 0; i < chars->size();) {
    const utf8::Char c = utf8::decode(*chars, i);
    if (c.code == code) return true;
    i += c.length;
  }
  return false;
}

// Start of the character that ends at `end`.
std::size_t previousChar(std::string_view text, std::size_t end) {
  for (std::size_t length = std::min<std::size_t>(4, end); length > 1; --length) {
    if (utf8::decode(text, end - length).length == length) return end - length;
  }
  return end - 1;
}

// The parts of a split, each charged as it is made: there may be as many as there are bytes.
class Parts {
 public:
  Parts(Budget& budget, const TaggedText& text) : budget_(budget), text_(text) {}
  void add(std::size_t begin, std::size_t end) {
    budget_.spendBytes(sizeof(TaggedText) + 2 * (end - begin));
    parts_.push_back(text_.substr(begin, end - begin));
  }
  std::int64_t count() const { return static_cast<std::int64_t>(parts_.size()); }
  std::vector<TaggedText> take() { return std::move(parts_); }
  std::vector<TaggedText> takeReversed() {
    std::reverse(parts_.begin(), parts_.end());
    return std::move(parts_);
  }

 private:
  Budget& budget_;
  const TaggedText& text_;
  std::vector<TaggedText> parts_;
};

std::size_t skipSpace(std::string_view text, std::size_t position) {
  while (position < text.size()) {
    const utf8::Char c = utf8::decode(text, position);
    if (!utf8::isSpace(c.code)) break;
    position += c.length;
  }
  return position;
}

std::size_t skipWord(std::string_view text, std::size_t position) {
  while (position < text.size()) {
    const utf8::Char c = utf8::decode(text, position);
    if (utf8::isSpace(c.code)) break;
    position += c.length;
  }
  return position;
}

std::vector<TaggedText> splitAtSpace(Budget& budget, const TaggedText& text, std::int64_t limit) {
  const std::string_view view = text.text();
  Parts parts(budget, text);
  for (std::size_t begin = skipSpace(view, 0); begin < view.size();) {
    if (parts.count() == limit) {
      parts.add(begin, view.size());  // the rest, its trailing space included
      break;
    }
    const std::size_t end = skipWord(view, begin);
    parts.add(begin, end);
    begin = skipSpace(view, end);
  }
  return parts.take();
}

std::vector<TaggedText> splitAtSpaceFromRight(Budget& budget, const TaggedText& text, std::int64_t limit) {
  const std::string_view view = text.text();
  const auto skipBack = [&](std::size_t end, bool space) {
    while (end > 0) {
      const std::size_t begin = previousChar(view, end);
      if (utf8::isSpace(utf8::decode(view, begin).code) != space) break;
      end = begin;
    }
    return end;
  };
  Parts parts(budget, text);
  for (std::size_t end = skipBack(view.size(), true); end > 0;) {
    if (parts.count() == limit) {
      parts.add(0, end);
      break;
    }
    const std::size_t begin = skipBack(end, false);
    parts.add(begin, end);
    end = skipBack(begin, true);
  }
  return parts.takeReversed();
}

// Whether the capital sigma at `position` ends a word, and so becomes a final sigma in lower case.
bool isFinalSigma(std::string_view text, std::size_t position, std::size_t length) {
  const auto casedAfterIgnorable = [&](bool forward) {
    std::size_t at = forward ? position + length : position;
    while (forward ? at < text.size() : at > 0) {
      const std::size_t begin = forward ? at : previousChar(text, at);
      const utf8::Char c = utf8::decode(text, begin);
      if (!utf8::isCaseIgnorable(c.code)) return utf8::isCased(c.code);
      at = forward ? begin + c.length : begin;
    }
    return false;
  };
  return casedAfterIgnorable(false) && !casedAfterIgnorable(true);
}

std::string lowerAt(std::string_view text, std::size_t position, const utf8::Char& c) {
  if (c.code == 0x3A3) return isFinalSigma(text, position, c.length) ? "\u03C2" : "\u03C3";
  return utf8::lower(c.code);
}

}  // namespace

ByteRange stripRange(std::string_view text, const std::string_view* chars, Side side) {
  std::size_t begin = 0;
  std::size_t end = text.size();
  while (side != Side::kRight && begin < end) {
    const utf8::Char c = utf8::decode(text, begin);
    if (!isStripped(c.code, chars)) break;
    begin += c.length;
  }
  while (side != Side::kLeft && end > begin) {
    const std::size_t previous = previousChar(text, end);
    if (!isStripped(utf8::decode(text, previous).code, chars)) break;
    end = previous;
  }
  return {begin, end};
}

TaggedText strip(const TaggedText& text, const std::string_view* chars, Side side) {
  const ByteRange range = stripRange(text.text(), chars, side);
  return text.substr(range.begin, range.end - range.begin);
}

std::vector<TaggedText> split(Budget& budget, const TaggedText& text, const std::string_view* separator,
                              std::int64_t limit) {
  if (!separator) return splitAtSpace(budget, text, limit);
  const std::string_view view = text.text();
  Parts parts(budget, text);
  std::size_t begin = 0;
  while (parts.count() != limit) {
    const std::size_t found = view.find(*separator, begin);
    if (found == std::string_view::npos) break;
    parts.add(begin, found);
    begin = found + separator->size();
  }
  parts.add(begin, view.size());
  return parts.take();
}

std::vector<TaggedText> splitFromRight(Budget& budget, const TaggedText& text,
                                       const std::string_view* separator, std::int64_t limit) {
  if (limit < 0) return split(budget, text, separator, limit);
  if (!separator) return splitAtSpaceFromRight(budget, text, limit);
  const std::string_view view = text.text();
  Parts parts(budget, text);
  std::size_t end = view.size();
  while (parts.count() != limit) {
    const std::size_t found = view.substr(0, end).rfind(*separator);
    if (found == std::string_view::npos) break;
    parts.add(found + separator->size(), end);
    end = found;
  }
  parts.add(0, end);
  return parts.takeReversed();
}

std::vector<TaggedText> splitLines(Budget& budget, const TaggedText& text, bool keepEnds) {
  const std::string_view view = text.text();
  Parts lines(budget, text);
  std::size_t begin = 0;
  for (std::size_t at = 0; at < view.size();) {
    const utf8::Char c = utf8::decode(view, at);
    if (!utf8::isLineBreak(c.code)) {
      at += c.length;
      continue;
    }
    const bool pair = c.code == '\r' && at + 1 < view.size() && view[at + 1] == '\n';
    const std::size_t after = at + (pair ? 2 : c.length);
    lines.add(begin, keepEnds ? after : at);
    begin = at = after;
  }
  if (begin < view.size()) lines.add(begin, view.size());
  return lines.take();
}

std::size_t countOf(std::string_view text, std::string_view part) {
  if (part.empty()) return utf8::countChars(text) + 1;
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

TaggedText replace(Budget& budget, const TaggedText& text, std::string_view from, const TaggedText& to,
                   std::int64_t limit) {
  const std::string_view view = text.text();
  const std::size_t occurrences = countOf(view, from);
  const std::size_t replaced =
      limit < 0 ? occurrences : std::min(occurrences, static_cast<std::size_t>(limit));
  budget.spendBytes(costOf(text) + replaced * costOf(to));
  budget.spend(occurrences);
  TaggedText out;
  std::int64_t done = 0;
  const auto more = [&] { return limit < 0 || done < limit; };
  std::size_t position = 0;
  if (from.empty()) {
    while (more() && position < view.size()) {
      const std::size_t length = utf8::decode(view, position).length;
      out.append(to);
      out.append(text.substr(position, length));
      position += length;
      ++done;
    }
    if (more() && position == view.size()) out.append(to);
    out.append(text.substr(position));
    return out;
  }
  for (; more(); ++done) {
    const std::size_t found = view.find(from, position);
    if (found == std::string_view::npos) break;
    out.append(text.substr(position, found - position));
    out.append(to);
    position = found + from.size();
  }
  out.append(text.substr(position));
  return out;
}

TaggedText changeCase(const TaggedText& text, Case to) {
  const std::string_view view = text.text();
  TaggedText out;
  std::size_t position = 0;
  bool afterCased = false;
  for (const TaggedText::Run& run : text.runs()) {
    const std::size_t end = position + run.length;
    std::string changed;
    while (position < end) {
      const utf8::Char c = utf8::decode(view, position);
      const bool first = to == Case::kTitle ? !afterCased : position == 0;
      if (to == Case::kUpper || (to == Case::kSwap && utf8::isLower(c.code))) {
        changed += utf8::upper(c.code);
      } else if (to == Case::kLower || (to == Case::kSwap && utf8::isUpper(c.code))) {
        changed += lowerAt(view, position, c);
      } else if (to == Case::kSwap) {
        changed += view.substr(position, c.length);
      } else {
        changed += first ? utf8::title(c.code) : lowerAt(view, position, c);
      }
      afterCased = utf8::isCased(c.code);
      position += c.length;
    }
    out.append(changed, run.fromTemplate);
  }
  return out;
}

TaggedText pad(Budget& budget, const TaggedText& text, std::size_t length, std::int64_t width,
               const TaggedText& fill, Align align) {
  if (width <= static_cast<std::int64_t>(length)) return text;
  const std::size_t missing = static_cast<std::size_t>(width) - length;
  budget.spend(missing);
  std::size_t left = 0;
  if (align == Align::kRight) left = missing;
  // The odd one goes left when both the missing and the whole width are odd, as in Python.
  if (align == Align::kCenter) left = missing / 2 + (missing & static_cast<std::size_t>(width) & 1);
  TaggedText out;
  for (std::size_t i = 0; i < left; ++i)
    out.append(fill);
  out.append(text);
  for (std::size_t i = left; i < missing; ++i)
    out.append(fill);
  return out;
}

}  // namespace tandem::jinja
