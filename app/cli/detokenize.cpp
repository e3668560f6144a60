// tandem-cli detokenize: the text of token ids.
#include <cstdio>

#include "app/cli/commands.h"
#include "app/cli/engine_choice.h"

namespace tandem::cli {
namespace {

constexpr Usage kUsage = {
    "detokenize", "ID... | -f FILE [options]",
    "Writes the bytes that token ids stand for, exactly and with no newline after them."};

struct DetokenizeOptions {
  CommonOptions common;
  EngineChoice engine;
  std::optional<std::string> file;
  bool special = false;
  Arguments ids;

  OptionTable table() {
    OptionTable table = {
        {"--file", 'f', "FILE", "the ids' file; - is standard input", text(file)},
        {"--special", 0, "", "write special tokens as they are spelled", on(special)},
    };
    append(table, modelTable(engine));
    return table;
  }
};

Result<std::vector<TokenId>> idsOf(const DetokenizeOptions& options) {
  if (options.file.has_value() != options.ids.empty()) {
    return badArgument("Give the ids either as arguments or with -f FILE.", "tokens");
  }
  if (options.file) return readIds(*options.file);
  std::string joined;
  for (const std::string_view id : options.ids)
    joined += std::string(id) + " ";
  return parseIds(joined);
}

Status detokenize(const DetokenizeOptions& options) {
  const auto ids = idsOf(options);
  if (!ids) return ids.status();
  const auto tokenizer = loadTokenizer(options.common, options.engine);
  if (!tokenizer) return tokenizer.status();
  if (const Status status = (*tokenizer)->check(*ids); !status) return status;
  const std::string text =
      (*tokenizer)->decode(*ids, options.special ? ControlText::kShown : ControlText::kHidden);
  if (options.common.json) {
    printJson({{"text", text}, {"bytes", text.size()}});
  } else {
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
  return {};
}

}  // namespace

int detokenizeCommand(const Arguments& arguments) {
  DetokenizeOptions options;
  if (const auto status = readOptions(kUsage, options.table(), arguments, options.common, &options.ids)) {
    return *status;
  }
  return finish(options.common, detokenize(options));
}

}  // namespace tandem::cli
