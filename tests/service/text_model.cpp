#include "tests/service/text_model.h"

#include <filesystem>
#include <vector>

#include "engine/tokenizer/byte_alphabet.h"
#include "engine/tokenizer/vocabulary.h"
#include "tests/gguf/model_copy.h"
#include "tests/gguf/tiny_models.h"

namespace tandem::test {
namespace {

constexpr int kVocabulary = 128;

void setVocabulary(ModelCopy& copy) {
  std::vector<std::string> spellings;
  std::vector<std::int32_t> types(kVocabulary, static_cast<std::int32_t>(TokenType::kNormal));
  for (int byte = 0; byte < kVocabulary; ++byte)
    spellings.push_back(spellByte(static_cast<std::uint8_t>(byte)));
  spellings[kTextModelStart] = "<|start|>";
  spellings[kTextModelEnd] = "<|im_end|>";
  types[kTextModelStart] = types[kTextModelEnd] = static_cast<std::int32_t>(TokenType::kControl);
  const std::vector<std::string_view> pieces(spellings.begin(), spellings.end());

  copy.setValue("tokenizer.ggml.model", gguf::encode(std::string_view("gpt2")));
  copy.setValue("tokenizer.ggml.pre", gguf::encode(std::string_view("smollm")));
  copy.setValue("tokenizer.ggml.tokens", gguf::encodeStrings(pieces));
  copy.setValue("tokenizer.ggml.token_type", gguf::encodeArray(std::span<const std::int32_t>(types)));
  copy.setValue("tokenizer.ggml.merges", gguf::encodeStrings({}));
  copy.setValue("tokenizer.ggml.eos_token_id", gguf::encode(std::uint32_t{kTextModelEnd}));
  copy.setValue("tokenizer.ggml.add_bos_token", gguf::encode(false));
}

}  // namespace

Status writeTextModel(const std::string& recipe, const std::string& outPath,
                      const TextModelOptions& options) {
  const std::string plain = outPath + ".plain";
  if (const Status status = writeTinyModel(recipe, plain, options.seed); !status) return status;
  auto copy = ModelCopy::of(plain);
  if (!copy) return copy.status();
  setVocabulary(*copy);
  copy->setValue("general.name", gguf::encode(std::string_view("Tiny text")));
  copy->setValue("llama.context_length", gguf::encode(static_cast<std::uint32_t>(options.contextLength)));
  if (!options.chatTemplate.empty()) {
    copy->setValue("tokenizer.chat_template", gguf::encode(std::string_view(options.chatTemplate)));
  }
  const Status status = copy->write(outPath);
  std::error_code error;
  std::filesystem::remove(plain, error);
  return status;
}

}  // namespace tandem::test
