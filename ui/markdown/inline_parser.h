// Inline Markdown: turns the text of one paragraph, heading or table cell into runs of visible text, each
// with a style and its place in the text given. Works in time near linear in the text, whatever the text is.
//
// Bold, italics, strike, code, links, <autolinks>, bare web addresses, images (shown as alt text and
// address), backslash escapes and a few entities. Mathematics is kept as written: \( \) \[ \] and dollars.
// Links are made only for http, https and mailto; everything else, HTML included, is text.
//
// Pure functions, any thread. Needs no Qt.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::markdown {

enum InlineStyle : std::uint8_t {
  kStyleNone = 0,
  kStyleBold = 1,
  kStyleItalic = 2,
  kStyleStrike = 4,
  kStyleCode = 8,
  kStyleMath = 16,
  kStyleImage = 32,  // the alt text and address that stand for an image
};

struct InlineRun {
  std::uint32_t begin = 0;  // bytes [begin, end) of the text
  std::uint32_t end = 0;
  std::uint8_t style = kStyleNone;  // InlineStyle bits
  std::int32_t link = -1;           // index into InlineText::links
  std::string shown;                // shown in place of the bytes (an entity, a space); empty: the bytes
};

struct InlineText {
  std::vector<InlineRun> runs;  // in order, none empty; no run but a "\n" of its own holds a line end
  std::vector<std::string> links;
};

// `cell`: the text is a table cell, where "\|" is a bar even inside code.
InlineText parseInline(std::string_view text, bool cell = false);

}  // namespace tandem::markdown
