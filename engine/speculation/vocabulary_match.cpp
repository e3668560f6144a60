#include "engine/speculation/vocabulary_match.h"

#include <xxhash.h>

#include <algorithm>
#include <cstdio>

namespace tandem {
namespace {

Error differs(const std::string& what) {
  return {ErrorCode::kUnsupported, "its vocabulary is another one: " + what, "tokenizer.ggml.tokens"};
}

std::string quoted(std::string_view text) {
  std::string shown(text.substr(0, 40));
  std::replace_if(
      shown.begin(), shown.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
  return '"' + shown + '"';
}

}  // namespace

Status sameVocabulary(const Vocabulary& target, const Vocabulary& other) {
  if (target.size() != other.size()) {
    return differs("it has " + std::to_string(other.size()) + " tokens, the model " +
                   std::to_string(target.size()));
  }
  for (TokenId id = 0; target.contains(id); ++id) {
    if (target.text(id) != other.text(id)) {
      return differs("token " + std::to_string(id) + " is " + quoted(other.text(id)) + ", the model's is " +
                     quoted(target.text(id)));
    }
    if (target.type(id) != other.type(id))
      return differs("token " + std::to_string(id) + " is of another type");
  }
  if (target.bosId() != other.bosId() || target.addsBos() != other.addsBos())
    return differs("it begins a text with another token");
  const auto sameEnd = [](const EndToken& a, const EndToken& b) { return a.id == b.id; };
  if (target.eosId() != other.eosId() ||
      !std::ranges::equal(target.endTokens(), other.endTokens(), sameEnd)) {
    return differs("it ends a text with another token");
  }
  return {};
}

std::string vocabularyFingerprint(const Vocabulary& vocabulary) {
  XXH64_hash_t hash = 0;
  for (TokenId id = 0; vocabulary.contains(id); ++id) {
    const std::string_view text = vocabulary.text(id);
    hash = XXH3_64bits_withSeed(text.data(), text.size(), hash + static_cast<unsigned>(vocabulary.type(id)));
  }
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

}  // namespace tandem
