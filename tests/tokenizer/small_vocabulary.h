// Small vocabularies made by hand, right ones to begin with, in which tests put what they want to see
// refused.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/gguf/encoded_value.h"
#include "engine/tokenizer/tokenizer.h"

namespace tandem::test {

// What it takes to write a model file that has a vocabulary and nothing else.
struct SmallVocabulary {
  explicit SmallVocabulary(std::string_view modelName) : model(modelName) {}

  void add(std::string token, TokenType type, float score = 0);
  // A metadata value; takes the place of what would be written under that key.
  void set(std::string key, gguf::EncodedValue value);

  Status write(const std::string& path) const;
  // Writes the file and loads it.
  Result<std::shared_ptr<const Tokenizer>> load(const std::string& path,
                                                const TokenizerOptions& options = {}) const;

  std::string model;  // tokenizer.ggml.model
  std::vector<std::string> tokens;
  std::vector<std::int32_t> types;
  std::vector<float> scores;
  std::vector<std::string> merges;
  std::vector<std::pair<std::string, gguf::EncodedValue>> values;
  std::vector<std::string> dropped;  // keys that are left out
};

// 259 tokens: <|im_end|> (0, eos), the byte b as b + 1, "ab" (257) and "abc" (258) by merging.
SmallVocabulary smallByteLevel();

// 266 tokens: <unk>, <s> (1, bos), </s> (2, eos), the byte b as b + 3, the space (259), a, b, c, "ab" (263),
// "bc" (264), which has a better score, and " a" (265).
SmallVocabulary smallSentencePiece();

}  // namespace tandem::test
