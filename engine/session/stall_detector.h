// Whether a text has begun to go in circles: it repeats a short piece, or says nothing that it has not said
// before. A function of the tokens alone.
//
// - A cycle: the last kCycleTokens tokens, and at least four times the period, repeat with a period of up to
//   kLongestPeriod tokens.
// - A collapse of novelty: in two windows of kWindow tokens, one after the other, fewer than one in
//   kNovelOneIn of the runs of four tokens is new.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "engine/tokenizer/token_id.h"

namespace tandem {

class StallDetector {
 public:
  static constexpr int kLongestPeriod = 48;
  static constexpr int kCycleTokens = 120;
  static constexpr int kWindow = 128;
  static constexpr int kNovelOneIn = 10;

  // The next token; true from the one on with which the text stalls.
  bool push(TokenId token);
  bool stalled() const { return stalled_; }

 private:
  bool cycles(TokenId token);
  bool collapses();

  std::vector<TokenId> tokens_;
  std::vector<int> repeats_ = std::vector<int>(kLongestPeriod + 1);  // by period: tokens that were the same
  std::unordered_set<std::uint64_t> runs_;                           // hashes of four tokens that came
  int novel_ = 0;                                                    // in the window so far
  int poorWindows_ = 0;                                              // the last ones
  bool stalled_ = false;
};

}  // namespace tandem
