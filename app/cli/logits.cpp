// tandem-cli logits: the logits of every position, to a file.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "app/cli/commands.h"
#include "app/cli/engine_choice.h"
#include "app/cli/logits_of.h"

namespace tandem::cli {
namespace {

constexpr Usage kUsage = {
    "logits", "--tokens FILE --out FILE.f32 [options]",
    "Reads token ids and writes the fp32 logits of every position, little endian, one row of the "
    "vocabulary's\n"
    "size after the other. prefill reads the ids in batches, decode one at a time: the files are the same."};

struct LogitsOptions {
  CommonOptions common;
  EngineChoice engine;
  std::string tokens, out;
  std::string mode = "prefill";

  OptionTable table() {
    OptionTable table = {
        {"--tokens", 0, "FILE", "token ids separated by white space; - is standard input", text(tokens)},
        {"--out", 0, "FILE", "where the logits go", text(out)},
        {"--mode", 0, "MODE", "prefill or decode", text(mode)},
    };
    append(table, engineTable(engine));
    return table;
  }
};

Error cannotWrite(const std::string& path) {
  return {ErrorCode::kIo, "The file " + path + " could not be written: " + std::strerror(errno) + ".", "out"};
}

Status writeLogits(const LogitsOptions& options) {
  if (options.tokens.empty()) return badArgument("Say with --tokens FILE where the token ids are.", "tokens");
  if (options.out.empty()) return badArgument("Say with --out FILE where the logits go.", "out");
  if (options.mode != "prefill" && options.mode != "decode") {
    return badArgument("--mode must be prefill or decode, not \"" + options.mode + "\".", "mode");
  }
  const auto ids = readIds(options.tokens);
  if (!ids) return ids.status();
  if (ids->empty()) return badArgument("There are no token ids in " + options.tokens + ".", "tokens");
  const auto engine = loadEngine(options.common, options.engine);
  if (!engine) return engine.status();
  if (const Status status = (*engine)->model()->tokenizer().check(*ids); !status) return status;
  const int context = (*engine)->info().contextLength;
  if (ids->size() > static_cast<std::size_t>(context)) {
    return Error{ErrorCode::kContextLengthExceeded,
                 "There are " + std::to_string(ids->size()) + " token ids, and the context holds " +
                     std::to_string(context) + ".",
                 "tokens"};
  }

  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(options.out.c_str(), "wb"),
                                                             std::fclose);
  if (!file) return cannotWrite(options.out);
  const int rows = options.mode == "decode" ? 1 : kLogitRows;
  const auto write = [&](int, std::span<const float> logits) -> Status {
    if (std::fwrite(logits.data(), sizeof(float), logits.size(), file.get()) == logits.size()) return {};
    return cannotWrite(options.out);
  };
  if (const Status status = logitsOf((*engine)->decoder(), *ids, 0, rows, write); !status) return status;
  if (std::fflush(file.get()) != 0) return cannotWrite(options.out);

  if (options.common.json) {
    printJson({{"positions", ids->size()},
               {"vocabulary", (*engine)->info().vocabSize},
               {"mode", options.mode},
               {"out", options.out}});
  } else {
    std::printf("%zu positions of %d logits in %s\n", ids->size(), (*engine)->info().vocabSize,
                options.out.c_str());
  }
  return {};
}

}  // namespace

int logitsCommand(const Arguments& arguments) {
  LogitsOptions options;
  if (const auto status = readOptions(kUsage, options.table(), arguments, options.common)) return *status;
  return finish(options.common, writeLogits(options));
}

}  // namespace tandem::cli
