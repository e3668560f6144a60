// Turns the tokens of an answer, as they come, into text that can be shown at once: whole characters only.
//
// A character may be spread over several tokens. The bytes of an unfinished one are held back until it is
// whole. Bytes that cannot become valid UTF-8 any more become U+FFFD, one for each maximal invalid subpart
// (the Unicode Standard, chapter 3, "U+FFFD Substitution of Maximal Subparts"). So what push and finish
// return, each on its own, is valid UTF-8. The exact bytes are kept beside it.
//
// One for each answer; used by one thread at a time. Keeps the tokenizer alive.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/tokenizer/token_id.h"
#include "engine/tokenizer/tokenizer.h"

namespace tandem {

class StreamingDetokenizer {
 public:
  // REQUIRES: tokenizer is not null
  explicit StreamingDetokenizer(std::shared_ptr<const Tokenizer> tokenizer,
                                ControlText control = ControlText::kHidden);

  // The text that `id` completes; often empty.
  std::string push(TokenId id);

  // The answer is over: an unfinished character that was held back is shown as one U+FFFD. Nothing is held
  // afterwards.
  std::string finish();

  // The exact bytes of the answer so far, with those of an unfinished character. All of them after finish().
  const std::string& bytes() const { return bytes_; }

 private:
  // Returns as text what bytes_ has beyond shown_, up to an unfinished character.
  std::string takeWholeCharacters();

  std::shared_ptr<const Tokenizer> tokenizer_;
  ControlText control_;
  std::string pending_;  // the beginning of an escaped byte (byte_escape.h)
  std::string bytes_;
  std::size_t shown_ = 0;  // how many of bytes_ were returned as text
};

}  // namespace tandem
