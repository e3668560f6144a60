// A reproducible stream of token ids, for models whose vocabulary has no text and for neighbours that change.
#pragma once

#include <cstdint>

#include "engine/tokenizer/token_id.h"

namespace tandem {

class TokenStream {
 public:
  TokenStream(int vocabulary, std::uint64_t seed) : vocabulary_(vocabulary), state_(seed) {}
  TokenId next() { return static_cast<TokenId>(below(static_cast<std::uint64_t>(vocabulary_))); }
  // A number from 0 to n - 1.
  std::uint64_t below(std::uint64_t n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (state_ >> 33) % n;
  }

 private:
  int vocabulary_;
  std::uint64_t state_;
};

}  // namespace tandem
