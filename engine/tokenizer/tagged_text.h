// Text of which every byte knows whether the chat template wrote it or whether it is data.
//
// A chat template writes markers (<|im_start|>, bos, eos) around what people, tools and files said. Only
// bytes that the template wrote may become a special token; the same characters in a person's message are
// plain text. TaggedText carries that distinction from the template interpreter to Tokenizer::encode, as runs
// of bytes of one origin.
//
// A plain value: whoever makes it owns it; not synchronised.
#pragma once

#include <cassert>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

class TaggedText {
 public:
  // `length` bytes of one origin; lengths are never 0 and neighbouring runs differ in origin.
  struct Run {
    std::size_t length;
    bool fromTemplate;
    bool operator==(const Run&) const = default;
  };

  TaggedText() = default;
  TaggedText(std::string_view text, bool fromTemplate) { append(text, fromTemplate); }

  void append(std::string_view text, bool fromTemplate);
  void append(const TaggedText& other);

  bool empty() const { return text_.empty(); }
  std::size_t size() const { return text_.size(); }  // bytes
  const std::string& text() const { return text_; }
  // In order; their lengths sum to size().
  std::span<const Run> runs() const { return runs_; }

  // Whether the byte at `position` was written by the template; O(log runs).
  // REQUIRES: position < size()
  bool isTemplate(std::size_t position) const;
  // Whether every byte of [begin, end) was written by the template; true for an empty range; O(log runs).
  // REQUIRES: begin <= end <= size()
  bool isAllTemplate(std::size_t begin, std::size_t end) const;

  // The bytes [begin, begin + length) with their origins; the range is cut at size().
  // REQUIRES: begin <= size()
  TaggedText substr(std::size_t begin, std::size_t length = std::string::npos) const;

  // Same bytes with the same origins.
  bool operator==(const TaggedText&) const = default;

 private:
  // Index of the run that holds the byte at `position`.
  std::size_t runAt(std::size_t position) const;

  std::string text_;
  std::vector<Run> runs_;
  std::vector<std::size_t> ends_;  // ends_[i] is the position just after run i
};

}  // namespace tandem
