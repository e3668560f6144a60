// The bytes of a vocabulary's tokens as a trie, against which constraints are walked.
//
// It holds the tokens that may stand inside constrained text: those whose type is normal, user-defined or
// byte and that stand for at least one byte. Control, unknown and unused tokens are not in it, nor are end
// tokens, which are listed apart. Made once for a tokenizer; immutable, so any thread may read it.
//
// Nodes are numbered in preorder: the children of n are n + 1, end(n + 1), end(end(n + 1)), … up to end(n).
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/tokenizer/tokenizer.h"

namespace tandem {

class TokenTrie {
 public:
  static constexpr std::uint32_t kRoot = 0;

  explicit TokenTrie(std::shared_ptr<const Tokenizer> tokenizer);

  std::uint8_t byte(std::uint32_t node) const { return bytes_[node]; }
  std::uint32_t end(std::uint32_t node) const { return ends_[node]; }
  bool hasChildren(std::uint32_t node) const { return ends_[node] > node + 1; }
  // The tokens whose bytes lead from the root to the node.
  std::span<const TokenId> tokens(std::uint32_t node) const {
    return std::span(tokens_).subspan(firstTokens_[node], firstTokens_[node + 1] - firstTokens_[node]);
  }

  std::size_t vocabSize() const { return tokenizer_->vocabSize(); }
  // What the token adds to a constrained text; empty for one that may not stand in it.
  std::string_view bytesOf(TokenId id) const;
  bool isEndToken(TokenId id) const { return tokenizer_->isEndToken(id); }
  const std::vector<TokenId>& endTokens() const { return endTokens_; }
  // The bytes that are tokens of their own; with them every text of such bytes can be written.
  const std::bitset<256>& singleBytes() const { return singleBytes_; }
  // Whether the tokenizer writes bytes as the noncharacters U+FDD0 … U+FDDF (engine/tokenizer/byte_escape.h).
  bool escapesBytes() const { return tokenizer_->byteEscape().isActive(); }
  // Bytes of the longest token.
  int longest() const { return longest_; }

  // Walks the nodes below `from` in preorder. `step(state, byte, next)` returns whether the byte may follow
  // and sets the state behind it; `visit(node, state)` sees each node that is reached. Returns the nodes
  // tried.
  template <class State, class Step, class Visit>
  std::size_t walk(std::uint32_t from, const State& start, const Step& step, const Visit& visit) const {
    struct Frame {
      State state;
      std::uint32_t end;
    };
    std::vector<Frame> path;
    path.reserve(static_cast<std::size_t>(longest_) + 1);
    path.push_back({start, end(from)});
    std::size_t tried = 0;
    State next = start;
    for (std::uint32_t node = from + 1; node < end(from); ++tried) {
      while (node >= path.back().end)
        path.pop_back();
      if (!step(path.back().state, byte(node), next)) {
        node = end(node);
        continue;
      }
      visit(node, next);
      if (hasChildren(node)) path.push_back({next, end(node)});
      ++node;
    }
    return tried;
  }

 private:
  bool isText(TokenId id) const;

  std::shared_ptr<const Tokenizer> tokenizer_;
  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint32_t> ends_;
  std::vector<std::uint32_t> firstTokens_;  // nodes + 1
  std::vector<TokenId> tokens_;             // sorted by their bytes
  std::vector<TokenId> endTokens_;
  std::bitset<256> singleBytes_;
  int longest_ = 0;
};

}  // namespace tandem
