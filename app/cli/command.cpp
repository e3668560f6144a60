#include "app/cli/command.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>

#include "engine/tokenizer/tokenizer.h"

namespace tandem::cli {
namespace {

using FilePointer = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

OptionTable commonTable(CommonOptions& common) {
  return {
      {"--json", 0, "", "one JSON object on standard output", on(common.json)},
      {"--home", 0, "DIR", "keep settings, models and conversations below DIR", text(common.home)},
      {"--help", 'h', "", "this text", on(common.help)},
  };
}

// Messages may quote a file's bytes; on a terminal they stay on their line.
std::string oneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
  return text;
}

Error cannotRead(const std::string& path, int error) {
  return {error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
          "The file " + path + " could not be read: " + std::strerror(error) + ".", "file"};
}

}  // namespace

std::optional<int> readOptions(const Usage& usage, OptionTable table, const Arguments& arguments,
                               CommonOptions& common, Arguments* names) {
  append(table, commonTable(common));
  const Result<Arguments> others = parse(table, arguments);
  if (!others) return fail(common, others.error());
  if (common.help) {
    std::printf("Usage: tandem-cli %.*s %.*s\n\n%.*s\n\n%s", static_cast<int>(usage.command.size()),
                usage.command.data(), static_cast<int>(usage.line.size()), usage.line.data(),
                static_cast<int>(usage.story.size()), usage.story.data(), describe(table).c_str());
    return kDone;
  }
  if (names != nullptr) {
    *names = *others;
  } else if (!others->empty()) {
    return fail(common,
                badArgument("\"" + std::string(others->front()) + "\" is one argument too many; see --help",
                            std::string(usage.command)));
  }
  return std::nullopt;
}

int fail(const CommonOptions& common, const Error& error) {
  std::fflush(stdout);
  std::fprintf(stderr, "tandem-cli: %s\n", oneLine(error.describe()).c_str());
  if (common.json) {
    nlohmann::json about = {{"code", errorCodeName(error.code)}, {"message", error.message}};
    if (!error.field.empty()) about["field"] = error.field;
    if (error.offset) about["offset"] = *error.offset;
    printJson({{"error", about}});
  }
  return kBadInput;
}

int finish(const CommonOptions& common, const Status& status) {
  return status ? kDone : fail(common, status.error());
}

void printJson(const nlohmann::json& json) {
  const std::string text = json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  std::printf("%s\n", text.c_str());
}

Result<Places> placesOf(const CommonOptions& common) {
  return findPlaces(common.home ? std::optional<std::filesystem::path>(*common.home) : std::nullopt);
}

Result<std::string> readFile(const std::string& path) {
  FilePointer opened(nullptr, std::fclose);
  std::FILE* file = stdin;
  if (path != "-") {
    opened.reset(std::fopen(path.c_str(), "rb"));
    if (!opened) return cannotRead(path, errno);
    file = opened.get();
  }
  std::string bytes;
  char part[65536];
  while (const std::size_t count = std::fread(part, 1, sizeof part, file)) {
    bytes.append(part, count);
    if (bytes.size() > Tokenizer::kMaxTextBytes) {
      return badArgument("The file " + path + " is longer than 1 GiB, more than can be tokenised.", "file");
    }
  }
  if (std::ferror(file)) return cannotRead(path, errno);
  return bytes;
}

Result<std::vector<TokenId>> readIds(const std::string& path) {
  const Result<std::string> text = readFile(path);
  if (!text) return text.error();
  return parseIds(*text);
}

Result<std::vector<TokenId>> parseIds(std::string_view text) {
  constexpr std::string_view kBetween = " \t\r\n\f\v,[]";
  std::vector<TokenId> ids;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kBetween), text.size()));
    if (text.empty()) return ids;
    const std::string_view word = text.substr(0, text.find_first_of(kBetween));
    TokenId id = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || end != word.data() + word.size() || id < 0) {
      return badArgument("Token " + std::to_string(ids.size() + 1) + " is not a token id: \"" +
                             std::string(word.substr(0, 40)) + "\".",
                         "tokens");
    }
    ids.push_back(id);
    text.remove_prefix(word.size());
  }
}

Error badArgument(std::string sentence, std::string field) {
  return {ErrorCode::kInvalidArgument, std::move(sentence), std::move(field)};
}

}  // namespace tandem::cli
