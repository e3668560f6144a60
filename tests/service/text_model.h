// A tiny model that can read and write text: the random llama of tests/data/tiny-models with a vocabulary of
// the 128 ASCII bytes. Its answers are gibberish, but they are always the same. Needs no Qt.
#pragma once

#include <string>

#include "engine/base/status.h"

namespace tandem::test {

// Token i is the byte i, but for these two control tokens.
inline constexpr int kTextModelStart = 1;  // "<|start|>"
inline constexpr int kTextModelEnd = 2;    // "<|im_end|>", ends an answer
inline constexpr int kTextModelLayers = 3;

struct TextModelOptions {
  // Writes "<|start|>" before each message and before the answer.
  std::string chatTemplate =
      "{% for message in messages %}<|start|>{{ message.role }}:{{ message.content }}{% endfor %}<|start|>";
  int contextLength = 4096;
  unsigned seed = 1;  // of the weights
};

// Of a model that thinks: it leaves the thoughts of earlier answers out.
inline constexpr char kThinkingTemplate[] =
    "{% for message in messages %}<|start|>{{ message.content.split('</think>')[-1] }}{% endfor %}<|start|>";

// recipe: tests/data/tiny-models/llama.json. An empty chat template leaves it out.
Status writeTextModel(const std::string& recipe, const std::string& outPath,
                      const TextModelOptions& options = {});

}  // namespace tandem::test
