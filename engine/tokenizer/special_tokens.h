// Finds the special tokens of a vocabulary in a text: control tokens (and the unknown token), which only a
// chat template may write, and user-defined tokens (runs of newlines or spaces, HTML tags), which are matched
// in any text before it is tokenised.
//
// At each position the longest token wins, and the scan goes on behind it. Refers to the vocabulary, which
// must outlive it. Immutable; any thread may call.
#pragma once

#include <bitset>
#include <cstddef>
#include <string_view>
#include <vector>

#include "engine/tokenizer/token_id.h"
#include "engine/tokenizer/vocabulary.h"

namespace tandem {

class SpecialTokens {
 public:
  struct Match {
    TokenId id = kNoToken;  // kNoToken: none starts here
    std::size_t length = 0;
  };

  explicit SpecialTokens(const Vocabulary& vocabulary);

  // The longest special token that `text` has at `position`. A token that only templates may write counts if
  // `isTemplate(begin, end)` says that the template wrote all of its bytes.
  // REQUIRES: position < text.size()
  template <class IsTemplate>
  Match match(std::string_view text, std::size_t position, const IsTemplate& isTemplate) const {
    Match best;
    if (!firstBytes_[static_cast<unsigned char>(text[position])]) return best;
    Candidates candidates = all();
    for (std::size_t length = 1; position + length <= text.size(); ++length) {
      candidates = narrow(candidates, length - 1, text[position + length - 1]);
      if (candidates.begin == candidates.end) break;
      // Sorted by text: the token that ends here, if there is one, comes first.
      const Token& token = tokens_[candidates.begin];
      if (token.text.size() == length && (token.inAnyText || isTemplate(position, position + length))) {
        best = {token.id, length};
      }
    }
    return best;
  }

 private:
  struct Token {
    std::string_view text;
    TokenId id;
    bool inAnyText;  // user-defined
  };
  // tokens_[begin, end)
  struct Candidates {
    std::size_t begin;
    std::size_t end;
  };
  Candidates all() const { return {0, tokens_.size()}; }
  // Those of `candidates`, all of which agree in their first `depth` bytes, that have `byte` next.
  Candidates narrow(Candidates candidates, std::size_t depth, char byte) const;

  std::vector<Token> tokens_;  // sorted by text, no two alike
  std::bitset<256> firstBytes_;
};

}  // namespace tandem
