#include "tests/tokenizer/small_vocabulary.h"

#include <algorithm>
#include <cstdio>
#include <span>

#include "engine/gguf/writer.h"
#include "engine/tokenizer/byte_alphabet.h"

namespace tandem::test {
namespace {

using gguf::encode;
using gguf::EncodedValue;

EncodedValue encodeList(const std::vector<std::string>& list) {
  const std::vector<std::string_view> views(list.begin(), list.end());
  return gguf::encodeStrings(views);
}

}  // namespace

void SmallVocabulary::add(std::string token, TokenType type, float score) {
  tokens.push_back(std::move(token));
  types.push_back(static_cast<std::int32_t>(type));
  scores.push_back(score);
}

void SmallVocabulary::set(std::string key, EncodedValue value) {
  std::erase_if(values, [&](const auto& entry) { return entry.first == key; });
  values.emplace_back(std::move(key), std::move(value));
}

Status SmallVocabulary::write(const std::string& path) const {
  std::vector<std::pair<std::string, EncodedValue>> usual = {
      {"general.architecture", encode(std::string_view("llama"))},
      {"tokenizer.ggml.model", encode(std::string_view(model))},
      {"tokenizer.ggml.tokens", encodeList(tokens)},
      {"tokenizer.ggml.token_type", gguf::encodeArray(std::span<const std::int32_t>(types))},
  };
  if (model == "llama") {
    usual.emplace_back("tokenizer.ggml.scores", gguf::encodeArray(std::span<const float>(scores)));
  } else {
    usual.emplace_back("tokenizer.ggml.pre", encode(std::string_view("smollm")));
    usual.emplace_back("tokenizer.ggml.merges", encodeList(merges));
  }
  gguf::Writer writer;
  for (const auto& [key, value] : usual) {
    const auto hasKey = [name = std::string_view(key)](const auto& entry) { return entry.first == name; };
    const bool replaced = std::any_of(values.begin(), values.end(), hasKey);
    if (!replaced && std::find(dropped.begin(), dropped.end(), key) == dropped.end()) writer.add(key, value);
  }
  for (const auto& [key, value] : values)
    writer.add(key, value);
  return writer.write(path);
}

Result<std::shared_ptr<const Tokenizer>> SmallVocabulary::load(const std::string& path,
                                                               const TokenizerOptions& options) const {
  if (Status status = write(path); !status) return status.error();
  const auto file = gguf::File::open(path);
  if (!file) return file.error();
  return Tokenizer::load(**file, options);
}

SmallVocabulary smallByteLevel() {
  SmallVocabulary v("gpt2");
  v.add("<|im_end|>", TokenType::kControl);
  for (int byte = 0; byte < 256; ++byte)
    v.add(spellByte(static_cast<std::uint8_t>(byte)), TokenType::kNormal);
  v.add("ab", TokenType::kNormal);
  v.add("abc", TokenType::kNormal);
  v.merges = {"a b", "ab c"};
  v.set("tokenizer.ggml.eos_token_id", encode(std::uint32_t{0}));
  return v;
}

SmallVocabulary smallSentencePiece() {
  SmallVocabulary v("llama");
  v.add("<unk>", TokenType::kUnknown);
  v.add("<s>", TokenType::kControl);
  v.add("</s>", TokenType::kControl);
  for (unsigned byte = 0; byte < 256; ++byte) {
    char text[8];
    std::snprintf(text, sizeof text, "<0x%02X>", byte);
    v.add(text, TokenType::kByte);
  }
  v.add("\xE2\x96\x81", TokenType::kNormal, -10);
  v.add("a", TokenType::kNormal, -11);
  v.add("b", TokenType::kNormal, -12);
  v.add("c", TokenType::kNormal, -13);
  v.add("ab", TokenType::kNormal, -2);
  v.add("bc", TokenType::kNormal, -1);
  v.add(
      "\xE2\x96\x81"
      "a",
      TokenType::kNormal, -3);
  v.set("tokenizer.ggml.bos_token_id", encode(std::uint32_t{1}));
  v.set("tokenizer.ggml.eos_token_id", encode(std::uint32_t{2}));
  return v;
}

}  // namespace tandem::test
