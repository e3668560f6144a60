// What every subcommand does the same way: read its options, give help, say what went wrong in one line, end
// with 0 (done), 1 (a check failed, or stopped with Ctrl-C) or 2 (bad use or bad input).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/options.h"
#include "app/places/places.h"
#include "engine/base/status.h"
#include "engine/tokenizer/token_id.h"

namespace tandem::cli {

inline constexpr int kDone = 0;
inline constexpr int kCheckFailed = 1;
inline constexpr int kBadInput = 2;

struct CommonOptions {
  bool json = false;  // one JSON object on standard output in place of text
  bool help = false;
  std::optional<std::string> home;
};

// What --help says of a subcommand.
struct Usage {
  std::string_view command;  // "run"
  std::string_view line;     // "-p TEXT | -f FILE [options]"
  std::string_view story;    // whole sentences, wrapped
};

// Reads the arguments with `table` and the common options. Returns an exit status when there is nothing more
// to do: help was given, or the arguments are wrong. `names` takes arguments that are no options; without it
// there may be none.
std::optional<int> readOptions(const Usage& usage, OptionTable table, const Arguments& arguments,
                               CommonOptions& common, Arguments* names = nullptr);

// Says what went wrong: one line on standard error, and with --json an object with `error`. Returns
// kBadInput.
int fail(const CommonOptions& common, const Error& error);

// kDone, or fail().
int finish(const CommonOptions& common, const Status& status);

// One object and a newline on standard output. Bytes that are no UTF-8 become U+FFFD.
void printJson(const nlohmann::json& json);

Result<Places> placesOf(const CommonOptions& common);

// All bytes of a file, or of standard input when the path is "-". Errors: kNotFound, kIo, kInvalidArgument
// (longer than can be tokenised).
Result<std::string> readFile(const std::string& path);

// Token ids separated by white space; commas and square brackets count as such. Errors: those of readFile;
// kInvalidArgument that names the first word that is no id.
Result<std::vector<TokenId>> readIds(const std::string& path);
Result<std::vector<TokenId>> parseIds(std::string_view text);

Error badArgument(std::string sentence, std::string field);

}  // namespace tandem::cli
