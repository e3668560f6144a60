#include "app/cli/prompt_list.h"

namespace tandem::cli {
namespace {

// Calls `add` with each line that is not empty and its number, from 1.
template <class Add>
Status eachLine(std::string_view text, Add&& add) {
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    if (Status s = add(line, number); !s.ok()) return s;
  }
  return {};
}

Error inLine(int number, const std::string& sentence) {
  return badArgument("Line " + std::to_string(number) + " of the prompts: " + sentence, "prompts");
}

Result<std::string> unescaped(std::string_view line, int number) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\') {
      text += line[i];
      continue;
    }
    const char next = ++i < line.size() ? line[i] : ' ';
    if (next != 'n' && next != '\\')
      return inLine(number, "after a backslash only n or a backslash may stand.");
    text += next == 'n' ? '\n' : '\\';
  }
  return text;
}

Error noPrompt() {
  return badArgument("There is no prompt in the file.", "prompts");
}

}  // namespace

Result<std::vector<std::string>> parsePrompts(std::string_view lines) {
  std::vector<std::string> prompts;
  const Status status = eachLine(lines, [&](std::string_view line, int number) -> Status {
    Result<std::string> text = unescaped(line, number);
    if (!text) return text.status();
    prompts.push_back(std::move(*text));
    return {};
  });
  if (!status) return status.error();
  if (prompts.empty()) return noPrompt();
  return prompts;
}

Result<std::vector<std::vector<TokenId>>> readPrompts(const std::string& path, const Tokenizer& tokenizer) {
  const Result<std::string> text = readFile(path);
  if (!text) return text.error();
  const auto prompts = parsePrompts(*text);
  if (!prompts) return prompts.error();
  std::vector<std::vector<TokenId>> ids;
  for (const std::string& prompt : *prompts) {
    auto encoded = tokenizer.encode(prompt, Bos::kAsModel);
    if (!encoded) return encoded.error();
    ids.push_back(std::move(*encoded));
  }
  return ids;
}

Result<std::vector<std::vector<TokenId>>> readPromptIds(const std::string& path, const Tokenizer& tokenizer) {
  const Result<std::string> text = readFile(path);
  if (!text) return text.error();
  std::vector<std::vector<TokenId>> prompts;
  const Status status = eachLine(*text, [&](std::string_view line, int number) -> Status {
    auto ids = parseIds(line);
    if (!ids) return inLine(number, ids.error().message);
    if (Status s = tokenizer.check(*ids); !s.ok()) return inLine(number, s.error().message);
    if (!ids->empty()) prompts.push_back(std::move(*ids));
    return {};
  });
  if (!status) return status.error();
  if (prompts.empty()) return noPrompt();
  return prompts;
}

}  // namespace tandem::cli
