#include "ui/markdown/inline_scan.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "ui/markdown/line_scan.h"

namespace tandem::markdown {

namespace {

constexpr std::size_t kMaxMath = 1000;     // bytes of a formula
constexpr std::size_t kMaxAddress = 2000;  // bytes of an address
constexpr std::size_t kMaxTitle = 300;
constexpr std::size_t kMaxEntity = 12;
constexpr int kMaxParentheses = 16;

bool isBlank(char c) {
  return c == '\n' || isSpace(c);
}

bool isWord(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool isControl(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
}

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string utf8(char32_t c) {
  std::string out;
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | (c >> 12));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (c >> 18));
    out += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
  return out;
}

constexpr std::array<std::pair<std::string_view, char32_t>, 16> kEntities{{
    {"amp", '&'},
    {"lt", '<'},
    {"gt", '>'},
    {"quot", '"'},
    {"apos", '\''},
    {"nbsp", 0xA0},
    {"copy", 0xA9},
    {"deg", 0xB0},
    {"times", 0xD7},
    {"ndash", 0x2013},
    {"mdash", 0x2014},
    {"hellip", 0x2026},
    {"larr", 0x2190},
    {"rarr", 0x2192},
    {"le", 0x2264},
    {"ge", 0x2265},
}};

}  // namespace

Backticks::Span Backticks::span(std::size_t at) {
  if (!scanned_) {
    scanned_ = true;
    for (std::size_t i = at; i < text_.size(); ++i) {
      if (text_[i] != '`') continue;
      const std::size_t begin = i;
      while (i < text_.size() && text_[i] == '`')
        ++i;
      runs_[i - begin].push_back(begin);
    }
  }
  std::size_t begin = at;
  while (begin < text_.size() && text_[begin] == '`')
    ++begin;
  Span span{false, begin, begin, begin};
  const auto same = runs_.find(begin - at);
  if (same == runs_.end()) return span;
  const auto closing = std::lower_bound(same->second.begin(), same->second.end(), begin);
  if (closing == same->second.end()) return span;
  return {true, begin, *closing, *closing + (begin - at)};
}

std::size_t dollarMath(std::string_view text, std::size_t at) {
  const bool display = at + 1 < text.size() && text[at + 1] == '$';
  const std::size_t begin = at + (display ? 2 : 1);
  if (begin >= text.size() || (!display && isBlank(text[begin]))) return at;
  const std::size_t limit = std::min(text.size(), begin + kMaxMath);
  for (std::size_t i = begin; i < limit; ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '$' && i > begin) {
      if (display) return i + 1 < text.size() && text[i + 1] == '$' ? i + 2 : at;
      const bool digitBehind = i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9';
      return isBlank(text[i - 1]) || digitBehind ? at : i + 1;
    }
  }
  return at;
}

std::size_t BracketMath::end(std::size_t at) {
  const bool display = text_[at + 1] == '[';
  std::size_t& next = next_[display ? 1 : 0];
  if (next < at + 2) next = text_.find(display ? "\\]" : "\\)", at + 2);
  return next == std::string_view::npos || next - at > kMaxMath ? at : next + 2;
}

std::optional<std::string> linkTarget(std::string_view address, bool email) {
  if (address.empty() || address.size() > kMaxAddress ||
      std::any_of(address.begin(), address.end(), isControl)) {
    return std::nullopt;
  }
  const std::string scheme = lowered(address.substr(0, 8));
  for (const std::string_view known : {"http://", "https://", "mailto:"}) {
    if (scheme.starts_with(known) && address.size() > known.size()) return std::string(address);
  }
  if (scheme.starts_with("www.")) return "https://" + std::string(address);
  const std::size_t sign = address.find('@');
  const bool mail = email && sign != std::string_view::npos && sign > 0 && sign + 1 < address.size() &&
                    address.find_first_of(":/\\ ") == std::string_view::npos;
  if (mail) return "mailto:" + std::string(address);
  return std::nullopt;
}

std::size_t bareAddressEnd(std::string_view text, std::size_t at) {
  if (at > 0 && isWord(text[at - 1])) return at;
  std::size_t prefix = 0;
  for (const std::string_view known : {"http://", "https://", "www."}) {
    if (text.substr(at).starts_with(known)) prefix = known.size();
  }
  if (prefix == 0) return at;
  std::size_t end = at + prefix;
  int parentheses = 0;
  while (end < text.size() && end - at < kMaxAddress && !isBlank(text[end]) && !isControl(text[end]) &&
         std::string_view("<>\"`|").find(text[end]) == std::string_view::npos) {
    if (text[end] == '(') ++parentheses;
    if (text[end] == ')' && --parentheses < 0) break;
    if (text[end] == ']' && text.substr(at, end - at).find('[') == std::string_view::npos) break;
    ++end;
  }
  while (end > at + prefix && std::string_view("?!.,:;*_~'").find(text[end - 1]) != std::string_view::npos)
    --end;
  return end == at + prefix ? at : end;
}

std::optional<Destination> linkDestination(std::string_view text, std::size_t at) {
  if (at >= text.size() || text[at] != '(') return std::nullopt;
  const auto skipBlank = [&](std::size_t i) {
    while (i < text.size() && isBlank(text[i]))
      ++i;
    return i;
  };
  Destination found;
  std::size_t i = skipBlank(at + 1);
  const bool angled = i < text.size() && text[i] == '<';
  found.begin = angled ? ++i : i;
  int parentheses = 0;
  for (; i < text.size() && i - found.begin < kMaxAddress; ++i) {
    const char c = text[i];
    if (c == '\n' || (angled ? c == '>' || c == '<' : isBlank(c))) break;
    if (angled) continue;
    if (c == '(' && ++parentheses > kMaxParentheses) return std::nullopt;
    if (c == ')' && --parentheses < 0) break;
  }
  found.end = i;
  if (angled) {
    if (i >= text.size() || text[i] != '>') return std::nullopt;
    ++i;
  }
  found.textEnd = i;
  i = skipBlank(i);
  if (i < text.size() && i > found.textEnd && (text[i] == '"' || text[i] == '\'')) {
    const std::size_t close = text.substr(0, std::min(text.size(), i + kMaxTitle)).find(text[i], i + 1);
    if (close == std::string_view::npos) return std::nullopt;
    i = skipBlank(close + 1);
  }
  if (i >= text.size() || text[i] != ')') return std::nullopt;
  found.closing = i;
  return found;
}

std::optional<Entity> entityAt(std::string_view text, std::size_t at) {
  const std::size_t end = text.substr(0, std::min(text.size(), at + kMaxEntity)).find(';', at);
  if (end == std::string_view::npos || end < at + 2) return std::nullopt;
  std::string_view name = text.substr(at + 1, end - at - 1);
  const std::size_t length = end - at + 1;
  if (name.front() != '#') {
    for (const auto& [known, character] : kEntities) {
      if (name == known) return Entity{length, utf8(character)};
    }
    return std::nullopt;
  }
  name.remove_prefix(1);
  const bool hex = name.starts_with('x') || name.starts_with('X');
  if (hex) name.remove_prefix(1);
  std::uint32_t value = 0;
  const auto [stop, error] = std::from_chars(name.data(), name.data() + name.size(), value, hex ? 16 : 10);
  const bool whole = error == std::errc{} && stop == name.data() + name.size() && !name.empty();
  const bool scalar = value >= 0x20 && value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF) &&
                      (value < 0x7F || value > 0x9F);
  if (!whole || !scalar) return std::nullopt;
  return Entity{length, utf8(static_cast<char32_t>(value))};
}

}  // namespace tandem::markdown
