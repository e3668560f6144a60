#include "engine/session/answer_text.h"

#include <algorithm>
#include <string_view>

namespace tandem {
namespace {

// Bytes at the end of `text` that may be the beginning of `stop`.
std::size_t beginningOf(const std::string& stop, std::string_view text) {
  for (std::size_t n = std::min(stop.size() - 1, text.size()); n > 0; --n) {
    if (text.substr(text.size() - n) == std::string_view(stop).substr(0, n)) return n;
  }
  return 0;
}

}  // namespace

void AnswerText::replay(TokenId token) {
  held_ += detokenizer_.push(token);
  ++tokens_;
  shown_ = held_.size();
  release();
  stopped_ = false;
}

std::string AnswerText::push(TokenId token) {
  held_ += detokenizer_.push(token);
  ++tokens_;
  return release();
}

std::string AnswerText::finish() {
  held_ += detokenizer_.finish();
  std::string text = held_.substr(std::min(shown_, held_.size()));
  held_.clear();
  return stopped_ ? std::string() : text;
}

// Where the first of `stop` begins that counts, or npos.
std::size_t AnswerText::find(const std::string& stop) const {
  const std::size_t from = early_ < stop.size() ? 0 : early_ - stop.size() + 1;
  return held_.find(stop, from);
}

// Takes from held_ what cannot belong to a stop string any more.
std::string AnswerText::release() {
  if (tokens_ < minTokens_) early_ = held_.size();
  std::size_t cut = std::string::npos, keep = 0;
  for (const std::string& stop : stop_) {
    cut = std::min(cut, find(stop));
    keep = std::max(keep, beginningOf(stop, held_));
  }
  stopped_ = cut != std::string::npos;
  const std::size_t end = stopped_ ? cut : held_.size() - keep;
  const std::size_t from = std::min(shown_, end);
  std::string text = held_.substr(from, end - from);
  held_.erase(0, stopped_ ? held_.size() : end);
  early_ -= std::min(early_, end);
  shown_ = stopped_ ? 0 : shown_ - std::min(shown_, end);
  return text;
}

}  // namespace tandem
