// A set of token ids: one bit for each token of a vocabulary.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/tokenizer/token_id.h"

namespace tandem {

class TokenMask {
 public:
  explicit TokenMask(std::size_t vocabulary = 0) : size_(vocabulary), words_((vocabulary + 63) / 64) {}

  // Tokens of the vocabulary, allowed or not.
  std::size_t size() const { return size_; }
  // False outside the vocabulary.
  bool allows(TokenId id) const {
    const auto i = static_cast<std::size_t>(id);
    return id >= 0 && i < size_ && (words_[i / 64] >> (i % 64) & 1) != 0;
  }
  // REQUIRES: 0 <= id < size()
  void add(TokenId id) {
    assert(id >= 0 && static_cast<std::size_t>(id) < size_);
    words_[static_cast<std::size_t>(id) / 64] |= std::uint64_t{1} << (static_cast<std::size_t>(id) % 64);
  }
  // REQUIRES: 0 <= id < size()
  void set(TokenId id, bool allowed) {
    add(id);
    if (!allowed)
      words_[static_cast<std::size_t>(id) / 64] ^= std::uint64_t{1} << (static_cast<std::size_t>(id) % 64);
  }
  // REQUIRES: other.size() == size()
  void addAll(const TokenMask& other) {
    assert(other.size_ == size_);
    for (std::size_t i = 0; i < words_.size(); ++i)
      words_[i] |= other.words_[i];
  }
  std::size_t count() const {
    std::size_t n = 0;
    for (const std::uint64_t word : words_)
      n += static_cast<std::size_t>(std::popcount(word));
    return n;
  }
  // Bit i % 64 of word i / 64 is token i; bits behind the vocabulary are 0.
  std::span<const std::uint64_t> words() const { return words_; }

  // The allowed tokens in ascending order.
  template <class F>
  void forEach(const F& f) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t word = words_[i]; word != 0; word &= word - 1)
        f(static_cast<TokenId>(i * 64 + static_cast<std::size_t>(std::countr_zero(word))));
    }
  }

  bool operator==(const TokenMask&) const = default;

 private:
  std::size_t size_;
  std::vector<std::uint64_t> words_;
};

}  // namespace tandem
