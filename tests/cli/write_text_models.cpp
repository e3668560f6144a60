// write_text_models RECIPE FOLDER: writes the tiny model that reads text, as plain.gguf with BF16 matrices,
// as quantized.gguf with blocks of several formats, and as thinking.gguf with the template of a model that
// thinks. RECIPE: tests/data/tiny-models/llama.json.
#include <cstdio>
#include <string>

#include "tests/model/quantized_tiny.h"
#include "tests/service/text_model.h"

int main(int count, char** arguments) {
  using namespace tandem;
  if (count != 3) {
    std::fputs("usage: write_text_models RECIPE FOLDER\n", stderr);
    return 2;
  }
  const std::string plain = std::string(arguments[2]) + "/plain.gguf";
  const std::string quantized = std::string(arguments[2]) + "/quantized.gguf";
  Status status = test::writeTextModel(arguments[1], plain);
  if (status.ok()) status = test::writeQuantizedTiny(plain, quantized);
  if (status.ok())
    status = test::writeTextModel(arguments[1], std::string(arguments[2]) + "/thinking.gguf",
                                  {.chatTemplate = test::kThinkingTemplate});
  if (status.ok()) return 0;
  std::fprintf(stderr, "write_text_models: %s\n", status.error().message.c_str());
  return 1;
}
