#include "engine/tokenizer/jinja/lexer.h"

#include <algorithm>

#include "engine/tokenizer/jinja/failure.h"
#include "engine/tokenizer/jinja/string_literal.h"
#include "engine/tokenizer/jinja/utf8.h"

namespace tandem::jinja {
namespace {

// Every line end becomes \n, and one at the very end is dropped.
std::string normalizeLines(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      out += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      out += source[i];
    }
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}
bool isHexDigit(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(normalizeLines(source)) {}

  std::vector<Token> run() {
    while (position_ < source_.size())
      root();
    add(TokenType::kEnd, "");
    return std::move(tokens_);
  }

 private:
  std::string_view rest() const { return std::string_view(source_).substr(position_); }
  bool startsWith(std::string_view text) const { return rest().starts_with(text); }

  void add(TokenType type, std::string text) { tokens_.push_back({type, std::move(text), line_}); }

  void moveTo(std::size_t position) {
    const auto begin = source_.begin() + static_cast<std::ptrdiff_t>(position_);
    line_ +=
        static_cast<int>(std::count(begin, source_.begin() + static_cast<std::ptrdiff_t>(position), '\n'));
    position_ = position;
  }

  std::size_t skipSpace(std::size_t position) const {
    while (position < source_.size()) {
      const utf8::Char c = utf8::decode(source_, position);
      if (!utf8::isSpace(c.code)) break;
      position += c.length;
    }
    return position;
  }

  [[noreturn]] void failHere(std::string message) const {
    fail(FailureKind::kSyntax, std::move(message), line_);
  }

  // Position after a tag end: -%} eats white space, %} one line end when `trim` is set, +%} nothing.
  // npos when there is none at `position`.
  std::size_t afterEnd(std::size_t position, std::string_view end, bool trim) const {
    const std::string_view at = std::string_view(source_).substr(position);
    if (!at.empty() && at[0] == '-' && at.substr(1).starts_with(end))
      return skipSpace(position + 1 + end.size());
    if (trim && !at.empty() && at[0] == '+' && at.substr(1).starts_with(end))
      return position + 1 + end.size();
    if (!at.starts_with(end)) return std::string_view::npos;
    const std::size_t after = position + end.size();
    return trim && after < source_.size() && source_[after] == '\n' ? after + 1 : after;
  }

  // Adds the text in front of a tag that starts at `tag`, stripped as the sign behind the tag's opening says.
  // `strips` tells whether lstrip_blocks applies (not to print tags).
  void addText(std::size_t tag, char sign, bool strips) {
    std::string_view text = std::string_view(source_).substr(position_, tag - position_);
    if (sign == '-') {
      const auto isSpaceAt = [&](std::size_t end, std::size_t& start) {
        start = end - 1;
        while (start > 0 && end - start < 4 && (static_cast<unsigned char>(text[start]) & 0xC0) == 0x80)
          --start;
        return utf8::isSpace(utf8::decode(text, start).code);
      };
      std::size_t start = 0;
      while (!text.empty() && isSpaceAt(text.size(), start))
        text = text.substr(0, start);
    } else if (sign != '+' && strips) {
      const std::size_t newline = text.rfind('\n');
      const std::size_t lineStart = newline == std::string_view::npos ? 0 : newline + 1;
      const bool atLineStart = lineStart > 0 || lineStarting_;
      if (atLineStart && skipSpace(position_ + lineStart) >= tag) text = text.substr(0, lineStart);
    }
    if (!text.empty()) add(TokenType::kText, std::string(text));
  }

  char signAt(std::size_t position) const {
    const bool isSign = position < source_.size() && (source_[position] == '-' || source_[position] == '+');
    return isSign ? source_[position] : '\0';
  }

  // One stretch of text and the tag that ends it.
  void root() {
    std::size_t tag = position_;
    for (;; ++tag) {
      tag = source_.find('{', tag);
      if (tag == std::string::npos || tag + 1 >= source_.size()) {
        add(TokenType::kText, std::string(rest()));
        position_ = source_.size();
        return;
      }
      const char next = source_[tag + 1];
      if (next == '{' || next == '%' || next == '#') break;
    }
    const char form = source_[tag + 1];
    const char sign = signAt(tag + 2);
    addText(tag, sign, form != '{');
    moveTo(tag);
    const std::size_t after = tag + 2 + (sign != '\0' ? 1 : 0);
    if (form == '#') return comment(after);
    if (form == '%') {
      const std::size_t body = rawBody(after);
      if (body != std::string::npos) return raw(body);
    }
    add(form == '%' ? TokenType::kBlockBegin : TokenType::kPrintBegin, "");
    moveTo(after);
    code(form == '%');
  }

  void comment(std::size_t position) {
    for (; position < source_.size(); ++position) {
      const std::size_t after = afterEnd(position, "#}", true);
      if (after != std::string::npos) return finishTag(after);
    }
    failHere("Missing end of comment tag");
  }

  void finishTag(std::size_t after) {
    lineStarting_ = source_[after - 1] == '\n';
    moveTo(after);
  }

  // Position behind "raw %}" when the block tag whose inside starts at `position` is one, else npos.
  std::size_t rawBody(std::size_t position) const {
    const std::size_t word = skipSpace(position);
    if (!std::string_view(source_).substr(word).starts_with("raw")) return std::string::npos;
    return afterEnd(skipSpace(word + 3), "%}", false);
  }

  void raw(std::size_t body) {
    finishTag(body);
    for (std::size_t tag = source_.find("{%", body); tag != std::string::npos;
         tag = source_.find("{%", tag + 1)) {
      const char sign = signAt(tag + 2);
      const std::size_t word = skipSpace(tag + 2 + (sign != '\0' ? 1 : 0));
      if (!std::string_view(source_).substr(word).starts_with("endraw")) continue;
      const std::size_t after = afterEnd(skipSpace(word + 6), "%}", true);
      if (after == std::string::npos) continue;
      addText(tag, sign, true);
      return finishTag(after);
    }
    failHere("Missing end of raw directive");
  }

  // The inside of a print or block tag, up to and including its end.
  void code(bool isBlock) {
    std::string open;  // the closing brackets still expected
    while (true) {
      if (open.empty()) {
        const std::size_t after = afterEnd(position_, isBlock ? "%}" : "}}", isBlock);
        if (after != std::string::npos) {
          add(isBlock ? TokenType::kBlockEnd : TokenType::kPrintEnd, "");
          return finishTag(after);
        }
      }
      const std::size_t start = skipSpace(position_);
      if (start > position_) {
        moveTo(start);
        continue;
      }
      // Left to the parser, which knows what is missing.
      if (position_ >= source_.size()) return;
      token(open);
    }
  }

  void token(std::string& open) {
    const char c = source_[position_];
    if (isDigit(c)) return number();
    if (utf8::isIdentifier(utf8::decode(source_, position_).code)) return name();
    if (c == '"' || c == '\'') return string(c);
    operatorToken(open);
  }

  // Takes digits of a kind, with single underscores between them, from `position` on.
  template <class Is>
  std::size_t digitsEnd(std::size_t position, Is is) const {
    while (
        position < source_.size() &&
        (is(source_[position]) || (source_[position] == '_' && position + 1 < source_.size() &&
                                   position > 0 && is(source_[position - 1]) && is(source_[position + 1])))) {
      ++position;
    }
    return position;
  }

  // End of a float that starts at the token's start, or npos when it is an integer.
  std::size_t floatEnd() const {
    if (position_ > 0 && source_[position_ - 1] == '.') return std::string::npos;
    std::size_t end = digitsEnd(position_, isDigit);
    bool isFloat = false;
    if (end + 1 < source_.size() && source_[end] == '.' && isDigit(source_[end + 1])) {
      end = digitsEnd(end + 1, isDigit);
      isFloat = true;
    }
    if (end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
      const std::size_t sign =
          end + 1 < source_.size() && (source_[end + 1] == '+' || source_[end + 1] == '-') ? 1 : 0;
      const std::size_t digits = end + 1 + sign;
      if (digits < source_.size() && isDigit(source_[digits])) return digitsEnd(digits, isDigit);
    }
    return isFloat ? end : std::string::npos;
  }

  std::size_t integerEnd() const {
    const auto prefixed = [&](char lower, auto is) {
      const bool has = position_ + 1 < source_.size() && source_[position_] == '0' &&
                       (source_[position_ + 1] | 32) == lower;
      if (!has) return std::string::npos;
      std::size_t first = position_ + 2;
      if (first < source_.size() && source_[first] == '_') ++first;
      return first < source_.size() && is(source_[first]) ? digitsEnd(first, is) : std::string::npos;
    };
    for (const std::size_t end :
         {prefixed('b', [](char c) { return c == '0' || c == '1'; }),
          prefixed('o', [](char c) { return c >= '0' && c <= '7'; }), prefixed('x', isHexDigit)}) {
      if (end != std::string::npos) return end;
    }
    if (source_[position_] == '0') return digitsEnd(position_, [](char c) { return c == '0'; });
    return digitsEnd(position_, isDigit);
  }

  void number() {
    const std::size_t asFloat = floatEnd();
    const std::size_t end = asFloat != std::string::npos ? asFloat : integerEnd();
    std::string digits = source_.substr(position_, end - position_);
    std::erase(digits, '_');
    add(asFloat != std::string::npos ? TokenType::kFloat : TokenType::kInteger, std::move(digits));
    moveTo(end);
  }

  void name() {
    std::size_t end = position_;
    while (end < source_.size()) {
      const utf8::Char c = utf8::decode(source_, end);
      if (!utf8::isIdentifier(c.code)) break;
      end += c.length;
    }
    add(TokenType::kName, source_.substr(position_, end - position_));
    moveTo(end);
  }

  void string(char quote) {
    std::size_t end = position_ + 1;
    while (end < source_.size() && source_[end] != quote)
      end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) failHere(std::string("unexpected char ") + quote);
    add(TokenType::kString,
        unescapeString(std::string_view(source_).substr(position_ + 1, end - position_ - 1), line_));
    moveTo(end + 1);
  }

  void operatorToken(std::string& open) {
    constexpr std::string_view kDouble[] = {"//", "**", "==", "!=", "<=", ">="};
    constexpr std::string_view kSingle = "+-*/%~[](){}<>=.:|,;";
    for (const std::string_view op : kDouble) {
      if (startsWith(op)) {
        add(TokenType::kOperator, std::string(op));
        return moveTo(position_ + 2);
      }
    }
    const char c = source_[position_];
    if (kSingle.find(c) == std::string_view::npos) failHere("unexpected character in a tag");
    if (c == '(') open += ')';
    if (c == '[') open += ']';
    if (c == '{') open += '}';
    if (c == ')' || c == ']' || c == '}') {
      if (open.empty()) failHere(std::string("unexpected '") + c + "'");
      if (open.back() != c) failHere(std::string("unexpected '") + c + "', expected '" + open.back() + "'");
      open.pop_back();
    }
    add(TokenType::kOperator, std::string(1, c));
    moveTo(position_ + 1);
  }

  std::string source_;
  std::size_t position_ = 0;
  int line_ = 1;
  bool lineStarting_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source) {
  return Lexer(source).run();
}

}  // namespace tandem::jinja
