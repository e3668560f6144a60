#include "engine/tokenizer/detokenizer.h"

#include <cassert>
#include <utility>

#include "engine/tokenizer/utf8.h"

namespace tandem {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

}  // namespace

StreamingDetokenizer::StreamingDetokenizer(std::shared_ptr<const Tokenizer> tokenizer, ControlText control)
    : tokenizer_(std::move(tokenizer)), control_(control) {
  assert(tokenizer_ != nullptr);
}

std::string StreamingDetokenizer::push(TokenId id) {
  pending_.append(tokenizer_->decode(id, control_));
  tokenizer_->byteEscape().unescape(pending_, bytes_, false);
  return takeWholeCharacters();
}

std::string StreamingDetokenizer::finish() {
  tokenizer_->byteEscape().unescape(pending_, bytes_, true);
  std::string text = takeWholeCharacters();
  if (shown_ < bytes_.size()) text.append(kReplacement);
  shown_ = bytes_.size();
  return text;
}

std::string StreamingDetokenizer::takeWholeCharacters() {
  std::string text;
  while (shown_ < bytes_.size()) {
    const Utf8Char c = readUtf8(bytes_, shown_);
    if (c.status == Utf8Status::kIncomplete) break;
    text.append(c.status == Utf8Status::kValid ? std::string_view(bytes_).substr(shown_, c.length)
                                               : kReplacement);
    shown_ += c.length;
  }
  return text;
}

}  // namespace tandem
