// What the tokenizer's tests share: the vocabularies of the two reference models, the recorded strings, and
// random text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"
#include "engine/tokenizer/tokenizer.h"

namespace tandem::test {

constexpr const char* kSmolLm2 = "SmolLM2-135M-Instruct.Q4_1.gguf";
constexpr const char* kGemma3 = "gemma-3-270m-Q4_K_M.gguf";

// The path of a reference model in the folder that TANDEM_MODELS names.
std::string realModelPath(std::string_view name);

// The tokenizer of a reference model, loaded once per program. The error says what to do when the file is
// missing.
Result<std::shared_ptr<const Tokenizer>> realTokenizer(std::string_view name);

// What to print when a Result should have been ok and is not.
template <class T>
std::string why(const Result<T>& result) {
  return result.ok() ? std::string() : result.error().describe();
}

// tests/data/NAME, whole. Empty when it cannot be read.
std::string readTestData(std::string_view name);
// Its lines.
std::vector<std::string> readTestLines(std::string_view name);
// A line in which \n \t \r \\ \xNN are written out, as bytes.
std::string unescapeLine(std::string_view line);
// Ids separated by spaces.
std::vector<TokenId> parseIds(std::string_view line);
std::string showIds(const std::vector<TokenId>& ids);

// Strings of bytes that are hard on a tokenizer: random bytes, random code points, and mixtures of words,
// spaces, special tokens spelled out, halves of characters and control bytes. The same seed gives the same
// strings.
class RandomText {
 public:
  explicit RandomText(std::uint32_t seed) : random_(seed) {}
  std::string next();

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }
  std::string bytes();
  std::string codePoints();
  std::string mixture();

  std::mt19937 random_;
};

}  // namespace tandem::test
