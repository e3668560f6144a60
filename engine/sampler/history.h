// What stands before the place of a choice: the prompt, the answer so far, and the drafted tokens on the
// path. It grows and shrinks at its end, so that every node of a tree has its own in as many steps as tokens
// change.
//
// Counts for the penalties, and where runs of tokens stood for no_repeat_ngram_size (docs/sampling.md). Plain
// data of one request and one thread.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/tokenizer/token_id.h"

namespace tandem {

class ChoiceHistory {
 public:
  struct Count {
    int all = 0;     // in prompt and answer
    int answer = 0;  // in the answer alone
  };
  using Counts = std::unordered_map<TokenId, Count>;

  // window: of the last tokens so many are counted; 0: all. ngram: length of the runs that are looked up; 0:
  // none.
  ChoiceHistory(int window, int ngram) : window_(window), ngram_(ngram) {}

  // REQUIRES: nothing was pushed yet.
  void begin(std::span<const TokenId> prompt);
  // One token of the answer or of a drafted path; pop() takes the last one back. REQUIRES of pop(): there is
  // one.
  void push(TokenId token);
  void pop();

  int answered() const { return static_cast<int>(tokens_.size() - prompt_); }
  // Of every token that is in the window.
  const Counts& counts() const { return counts_; }
  // Tokens that followed the last ngram - 1 tokens wherever these stood before; some may come twice.
  std::vector<TokenId> followers() const;

 private:
  void count(std::size_t place, int change);
  void append(TokenId token);
  std::span<const TokenId> before(std::size_t place) const;

  const int window_, ngram_;
  std::size_t prompt_ = 0;  // tokens of the prompt
  std::vector<TokenId> tokens_;
  Counts counts_;
  // By a hash of ngram - 1 tokens: the places that follow them, in order.
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> places_;
};

}  // namespace tandem
