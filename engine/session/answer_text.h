// The text of an answer as it grows: the detokenizer, and the stop strings that end it.
//
// Text that may begin a stop string is held back until it is clear whether it does. What comes out depends on
// the tokens alone, never on how many of them one round brought.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/tokenizer/detokenizer.h"

namespace tandem {

class AnswerText {
 public:
  // A stop string ends the answer only with its `minTokens`-th token or a later one: one that was complete
  // before is text like any other. REQUIRES: no stop string is empty.
  AnswerText(std::shared_ptr<const Tokenizer> tokenizer, std::vector<std::string> stop, int minTokens = 0)
      : detokenizer_(std::move(tokenizer)), stop_(std::move(stop)), minTokens_(minTokens) {}

  // A token of an answer that goes on: its text was shown before, and nothing of it comes out again.
  void replay(TokenId token);
  // The text that the token sets free. After the token that completes a stop string this is what stands
  // before the string, and the answer is over. REQUIRES: !stopped().
  std::string push(TokenId token);
  bool stopped() const { return stopped_; }
  // The answer ends without a stop string: what was held back.
  std::string finish();

 private:
  std::size_t find(const std::string& stop) const;
  std::string release();

  StreamingDetokenizer detokenizer_;
  const std::vector<std::string> stop_;
  const int minTokens_;
  int tokens_ = 0;  // taken so far
  std::string held_;
  std::size_t early_ = 0;  // of held_, bytes in which no stop string may end
  std::size_t shown_ = 0;  // of held_, bytes that were shown before an answer went on
  bool stopped_ = false;
};

}  // namespace tandem
