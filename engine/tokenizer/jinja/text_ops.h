// Python's string operations on text with origins: every byte of a result that comes from an operand keeps
// the origin it had there; bytes that an operation makes up (padding, line ends) are data.
//
// Positions are byte offsets on character boundaries. What may come out larger than it went in takes the
// budget and charges it first.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/tokenizer/jinja/budget.h"
#include "engine/tokenizer/tagged_text.h"

namespace tandem::jinja {

enum class Side { kLeft, kRight, kBoth };

// The range of `text` that remains after stripping the characters of `chars`, or white space when `chars` is
// null.
struct ByteRange {
  std::size_t begin, end;
};
ByteRange stripRange(std::string_view text, const std::string_view* chars, Side side);
TaggedText strip(const TaggedText& text, const std::string_view* chars, Side side);

// str.split and str.rsplit: at most `limit` cuts (any number when negative); at runs of white space when
// `separator` is null. REQUIRES: a separator that is given is not empty
std::vector<TaggedText> split(Budget& budget, const TaggedText& text, const std::string_view* separator,
                              std::int64_t limit);
std::vector<TaggedText> splitFromRight(Budget& budget, const TaggedText& text,
                                       const std::string_view* separator, std::int64_t limit);
std::vector<TaggedText> splitLines(Budget& budget, const TaggedText& text, bool keepEnds);

// How often `part` occurs without overlap; an empty one occurs before every character and at the end.
std::size_t countOf(std::string_view text, std::string_view part);

// The first `limit` occurrences (all when negative) of `from` become `to`. An empty `from` stands before
// every character and at the end.
TaggedText replace(Budget& budget, const TaggedText& text, std::string_view from, const TaggedText& to,
                   std::int64_t limit);

enum class Case { kUpper, kLower, kTitle, kCapitalize, kSwap };
TaggedText changeCase(const TaggedText& text, Case to);

// `text`, which has `length` characters, in a field of `width` characters, the rest filled with `fill`.
enum class Align { kLeft, kCenter, kRight };
TaggedText pad(Budget& budget, const TaggedText& text, std::size_t length, std::int64_t width,
               const TaggedText& fill, Align align);

}  // namespace tandem::jinja
