// tandem-cli tokenize: the token ids of a text.
#include <cstdio>

#include "app/cli/commands.h"
#include "app/cli/engine_choice.h"

namespace tandem::cli {
namespace {

constexpr Usage kUsage = {
    "tokenize", "-p TEXT | -f FILE [options]",
    "Writes the token ids of a text as a JSON array. The text is data: <|im_start|> in it is plain text. "
    "With\n"
    "--special it is read as a chat template's own text, where such markers are special tokens."};

struct TokenizeOptions {
  CommonOptions common;
  EngineChoice engine;
  std::optional<std::string> prompt, file;
  bool special = false;
  bool bos = false;

  OptionTable table() {
    OptionTable table = {
        {"--prompt", 'p', "TEXT", "the text", text(prompt)},
        {"--file", 'f', "FILE", "the text's file; - is standard input", text(file)},
        {"--special", 0, "", "recognise special tokens in the text", on(special)},
        {"--bos", 0, "", "put BOS before it where the model wants one", on(bos)},
    };
    append(table, modelTable(engine));
    return table;
  }
};

Status tokenize(const TokenizeOptions& options) {
  if (options.prompt.has_value() == options.file.has_value()) {
    return badArgument("Give the text either with -p TEXT or with -f FILE.", "prompt");
  }
  const Result<std::string> text =
      options.prompt ? Result<std::string>(*options.prompt) : readFile(*options.file);
  if (!text) return text.status();
  const auto tokenizer = loadTokenizer(options.common, options.engine);
  if (!tokenizer) return tokenizer.status();
  const Bos bos = options.bos ? Bos::kAsModel : Bos::kNone;
  const auto ids =
      options.special ? (*tokenizer)->encode(TaggedText(*text, true), bos) : (*tokenizer)->encode(*text, bos);
  if (!ids) return ids.status();

  if (options.common.json) {
    nlohmann::json pieces = nlohmann::json::array();
    for (const TokenId id : *ids)
      pieces.push_back((*tokenizer)->decode(id, ControlText::kShown));
    printJson({{"ids", *ids}, {"count", ids->size()}, {"pieces", pieces}});
  } else {
    std::printf("%s\n", nlohmann::json(*ids).dump().c_str());
  }
  return {};
}

}  // namespace

int tokenizeCommand(const Arguments& arguments) {
  TokenizeOptions options;
  if (const auto status = readOptions(kUsage, options.table(), arguments, options.common)) return *status;
  return finish(options.common, tokenize(options));
}

}  // namespace tandem::cli
