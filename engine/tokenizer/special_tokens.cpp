#include "engine/tokenizer/special_tokens.h"

#include <algorithm>

namespace tandem {

SpecialTokens::SpecialTokens(const Vocabulary& vocabulary) {
  for (std::size_t i = 0; i < vocabulary.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    const TokenType type = vocabulary.type(id);
    const bool userDefined = type == TokenType::kUserDefined;
    if (!userDefined && type != TokenType::kControl && type != TokenType::kUnknown) continue;
    const std::string_view text = vocabulary.text(id);
    if (text.empty()) continue;
    tokens_.push_back({text, id, userDefined});
    firstBytes_.set(static_cast<unsigned char>(text.front()));
  }
  // Of two tokens with the same text the control token is kept, so that data cannot reach it; then the lower
  // id.
  std::sort(tokens_.begin(), tokens_.end(), [](const Token& a, const Token& b) {
    if (a.text != b.text) return a.text < b.text;
    return a.inAnyText != b.inAnyText ? b.inAnyText : a.id < b.id;
  });
  const auto sameText = [](const Token& a, const Token& b) { return a.text == b.text; };
  tokens_.erase(std::unique(tokens_.begin(), tokens_.end(), sameText), tokens_.end());
}

SpecialTokens::Candidates SpecialTokens::narrow(Candidates candidates, std::size_t depth, char byte) const {
  // Bytes of a token at `depth` as numbers; a token that ends before sorts first.
  const auto byteOf = [&](const Token& token) {
    return depth < token.text.size() ? static_cast<int>(static_cast<unsigned char>(token.text[depth])) : -1;
  };
  const int wanted = static_cast<unsigned char>(byte);
  const auto at = [&](std::size_t i) { return tokens_.begin() + static_cast<std::ptrdiff_t>(i); };
  const auto low = std::partition_point(at(candidates.begin), at(candidates.end),
                                        [&](const Token& token) { return byteOf(token) < wanted; });
  const auto high = std::partition_point(low, at(candidates.end),
                                         [&](const Token& token) { return byteOf(token) == wanted; });
  return {static_cast<std::size_t>(low - tokens_.begin()), static_cast<std::size_t>(high - tokens_.begin())};
}

}  // namespace tandem
