#include "tests/tokenizer/real_models.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

namespace tandem::test {
namespace {

// A code point in UTF-8; surrogates too, which makes it invalid.
std::string encodeUtf8(char32_t code) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xC0 | (code >> 6)), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xE0 | (code >> 12)), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | (code >> 18)), tail(12), tail(6), tail(0)};
}

constexpr std::string_view kFragments[] = {
    "the",
    " quick",
    " brown",
    "Fox",
    "ing",
    " ",
    "  ",
    "    ",
    "\n",
    "\n\n\n",
    "\r\n",
    "\t",
    "\t\t",
    "'s",
    "'LL",
    "don't",
    "1",
    "2024",
    " 3.14",
    "()",
    "{};",
    "!!",
    "...",
    "<",
    "<|im_start|>",
    "<|im_end|>",
    "</s>",
    "<eos>",
    "<0x0A>",
    "<unused7>",
    "<end_of_turn>",
    "<|",
    "\xC3\xA9",
    "e\xCC\x81",
    "\xE6\x97\xA5\xE6\x9C\xAC",
    "\xF0\x9F\x98\x80",
    "\xE2\x80\x8D",
    "\xE2\x96\x81",
    "\xEF\xB7\x90",
    "\xEF\xB7\x9F",
    "\xEF\xB7",
    "\xE6\x97",
    "\xF0\x9F",
    "\x80",
    "\xFF",
    "\xC0\x80",
    "\xED\xA0\x80",
    "\x01",
    "\x04",
    "\x7F",
    "\xC2\xA0",
    "\xE3\x80\x80",
    "\xF1\x80\x80\x80",
};

}  // namespace

std::string realModelPath(std::string_view name) {
  const char* folder = std::getenv("TANDEM_MODELS");
  return std::string(folder != nullptr ? folder : "") + "/" + std::string(name);
}

Result<std::shared_ptr<const Tokenizer>> realTokenizer(std::string_view name) {
  static std::map<std::string, std::shared_ptr<const Tokenizer>, std::less<>> loaded;
  if (const auto it = loaded.find(name); it != loaded.end()) return it->second;
  if (std::getenv("TANDEM_MODELS") == nullptr) {
    return Error{ErrorCode::kNotFound,
                 "This test needs the reference models: set TANDEM_MODELS to the folder that holds them."};
  }
  const auto file = gguf::File::open(realModelPath(name));
  if (!file) return file.error();
  auto tokenizer = Tokenizer::load(**file);
  if (tokenizer) loaded.emplace(name, *tokenizer);
  return tokenizer;
}

std::string readTestData(std::string_view name) {
  std::ifstream in(std::string(TANDEM_TEST_DATA) + "/" + std::string(name), std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  return content.str();
}

std::vector<std::string> readTestLines(std::string_view name) {
  std::vector<std::string> lines;
  std::istringstream in(readTestData(name));
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

std::string unescapeLine(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\') {
      text.push_back(line[i]);
      continue;
    }
    switch (line[++i]) {
      case 'n':
        text.push_back('\n');
        break;
      case 't':
        text.push_back('\t');
        break;
      case 'r':
        text.push_back('\r');
        break;
      case 'x':
        text.push_back(static_cast<char>(std::stoi(std::string(line.substr(i + 1, 2)), nullptr, 16)));
        i += 2;
        break;
      default:
        text.push_back(line[i]);
    }
  }
  return text;
}

std::vector<TokenId> parseIds(std::string_view line) {
  std::vector<TokenId> ids;
  std::istringstream in{std::string(line)};
  for (TokenId id; in >> id;)
    ids.push_back(id);
  return ids;
}

std::string showIds(const std::vector<TokenId>& ids) {
  std::string text;
  for (const TokenId id : ids)
    text += (text.empty() ? "" : " ") + std::to_string(id);
  return text;
}

std::string RandomText::next() {
  switch (below(3)) {
    case 0:
      return bytes();
    case 1:
      return codePoints();
    default:
      return mixture();
  }
}

std::string RandomText::bytes() {
  std::string text;
  for (std::size_t n = below(24); n > 0; --n)
    text.push_back(static_cast<char>(below(256)));
  return text;
}

std::string RandomText::codePoints() {
  constexpr char32_t kBounds[] = {0x80, 0x250, 0x3000, 0xD800, 0x10000, 0x110000};
  std::string text;
  for (std::size_t n = below(16); n > 0; --n) {
    char32_t code = static_cast<char32_t>(below(kBounds[below(std::size(kBounds))]));
    if (code >= 0xD800 && code < 0xE000) code -= 0x800;
    text += encodeUtf8(code);
  }
  return text;
}

std::string RandomText::mixture() {
  std::string text;
  for (std::size_t n = below(16); n > 0; --n)
    text += kFragments[below(std::size(kFragments))];
  return text;
}

}  // namespace tandem::test
