#include "engine/constraint/token_trie.h"

#include <algorithm>

namespace tandem {

bool TokenTrie::isText(TokenId id) const {
  const TokenType type = tokenizer_->vocabulary().type(id);
  const bool plain =
      type == TokenType::kNormal || type == TokenType::kUserDefined || type == TokenType::kByte;
  return plain && !tokenizer_->isEndToken(id);
}

std::string_view TokenTrie::bytesOf(TokenId id) const {
  return tokenizer_->vocabulary().contains(id) && isText(id) ? tokenizer_->decode(id) : std::string_view();
}

TokenTrie::TokenTrie(std::shared_ptr<const Tokenizer> tokenizer) : tokenizer_(std::move(tokenizer)) {
  for (const EndToken& token : tokenizer_->vocabulary().endTokens())
    endTokens_.push_back(token.id);
  for (std::size_t i = 0; i < vocabSize(); ++i) {
    const auto id = static_cast<TokenId>(i);
    if (!bytesOf(id).empty()) tokens_.push_back(id);
  }
  std::sort(tokens_.begin(), tokens_.end(), [&](TokenId a, TokenId b) {
    const int order = tokenizer_->decode(a).compare(tokenizer_->decode(b));
    return order != 0 ? order < 0 : a < b;
  });

  std::vector<std::uint32_t> path{kRoot};  // the nodes of the last token's bytes, the root first
  std::string_view last;
  bytes_.push_back(0);
  ends_.push_back(0);
  firstTokens_.push_back(0);
  for (std::size_t t = 0; t < tokens_.size(); ++t) {
    const std::string_view text = tokenizer_->decode(tokens_[t]);
    longest_ = std::max(longest_, static_cast<int>(text.size()));
    if (text.size() == 1) singleBytes_.set(static_cast<unsigned char>(text[0]));
    const auto differs = std::mismatch(text.begin(), text.end(), last.begin(), last.end());
    const auto common = static_cast<std::size_t>(differs.first - text.begin());
    for (; path.size() > common + 1; path.pop_back())
      ends_[path.back()] = static_cast<std::uint32_t>(bytes_.size());
    for (std::size_t i = common; i < text.size(); ++i) {
      path.push_back(static_cast<std::uint32_t>(bytes_.size()));
      bytes_.push_back(static_cast<std::uint8_t>(text[i]));
      ends_.push_back(0);
      firstTokens_.push_back(static_cast<std::uint32_t>(t));
    }
    last = text;
  }
  for (const std::uint32_t node : path)
    ends_[node] = static_cast<std::uint32_t>(bytes_.size());
  firstTokens_.push_back(static_cast<std::uint32_t>(tokens_.size()));
}

}  // namespace tandem
