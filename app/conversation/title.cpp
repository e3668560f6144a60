#include "app/conversation/title.h"

#include "storage/search_text.h"

namespace tandem {

namespace {

constexpr std::size_t kMaxCharacters = 40;
// A cut further left than this would lose too much; then the word itself is cut.
constexpr std::size_t kMinCharacters = 20;

bool isContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// The line without marks at its start, its runs of white space and control characters as one space.
std::string plainLine(std::string_view line) {
  const std::size_t start = line.find_first_not_of(" \t#>*-`_~");
  if (start == std::string_view::npos) return {};
  std::string plain;
  for (const char c : line.substr(start)) {
    const bool space = static_cast<unsigned char>(c) <= 0x20 || c == 0x7F;
    if (!space) {
      plain += c;
    } else if (!plain.empty() && plain.back() != ' ') {
      plain += ' ';
    }
  }
  if (!plain.empty() && plain.back() == ' ') plain.pop_back();
  return plain;
}

std::string shortened(const std::string& plain) {
  std::size_t characters = 0;
  std::size_t lastSpace = std::string::npos;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (isContinuation(plain[i])) continue;
    if (characters == kMaxCharacters) {
      const std::size_t cut = plain[i] == ' ' || lastSpace == std::string::npos ? i : lastSpace;
      return plain.substr(0, cut) + "…";
    }
    if (plain[i] == ' ' && characters >= kMinCharacters) lastSpace = i;
    ++characters;
  }
  return plain;
}

}  // namespace

std::string titleOf(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find_first_of("\r\n");
    const std::string plain = plainLine(storage::searchText(text.substr(0, std::min(end, text.size()))));
    if (!plain.empty()) return shortened(plain);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return "New conversation";
}

}  // namespace tandem
