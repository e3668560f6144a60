#include "engine/tokenizer/tagged_text.h"

#include <algorithm>

namespace tandem {

void TaggedText::append(std::string_view text, bool fromTemplate) {
  if (text.empty()) return;
  text_.append(text);
  if (!runs_.empty() && runs_.back().fromTemplate == fromTemplate) {
    runs_.back().length += text.size();
    ends_.back() = text_.size();
    return;
  }
  runs_.push_back({text.size(), fromTemplate});
  ends_.push_back(text_.size());
}

void TaggedText::append(const TaggedText& other) {
  if (&other == this) {
    const TaggedText copy = other;
    append(copy);
    return;
  }
  std::size_t begin = 0;
  for (const Run& run : other.runs_) {
    append(std::string_view(other.text_).substr(begin, run.length), run.fromTemplate);
    begin += run.length;
  }
}

std::size_t TaggedText::runAt(std::size_t position) const {
  assert(position < size());
  return static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), position) - ends_.begin());
}

bool TaggedText::isTemplate(std::size_t position) const {
  return runs_[runAt(position)].fromTemplate;
}

bool TaggedText::isAllTemplate(std::size_t begin, std::size_t end) const {
  assert(begin <= end && end <= size());
  if (begin == end) return true;
  // Neighbouring runs differ in origin, so a range of one origin lies inside one run.
  const std::size_t run = runAt(begin);
  return runs_[run].fromTemplate && end <= ends_[run];
}

TaggedText TaggedText::substr(std::size_t begin, std::size_t length) const {
  assert(begin <= size());
  const std::size_t end = begin + std::min(length, size() - begin);
  TaggedText result;
  if (begin == end) return result;
  std::size_t position = begin;
  for (std::size_t run = runAt(begin); position < end; ++run) {
    const std::size_t stop = std::min(end, ends_[run]);
    result.append(std::string_view(text_).substr(position, stop - position), runs_[run].fromTemplate);
    position = stop;
  }
  return result;
}

}  // namespace tandem
