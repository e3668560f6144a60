#include "engine/constraint/grammar_parser.h"

#include <map>
#include <optional>
#include <string>

#include "engine/constraint/char_class.h"
#include "engine/constraint/source_reader.h"

namespace tandem::constraint {
namespace {

class GrammarParser {
 public:
  explicit GrammarParser(std::string_view text) : in_(text, "grammar") {}

  ParsedGrammar parse() {
    for (skipSpace(true); !in_.atEnd(); skipSpace(true))
      rule();
    for (const auto& [name, rule] : names_) {
      if (defined_[static_cast<std::size_t>(rule)]) continue;
      in_.rewind(used_[static_cast<std::size_t>(rule)]);
      in_.fail("The rule " + name + " is used and not defined.");
    }
    const auto root = names_.find("root");
    if (root == names_.end()) in_.fail("The grammar has no rule called root.");
    out_.root = root->second;
    return std::move(out_);
  }

 private:
  static bool isNameChar(char32_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  }

  // Spaces and comments, and with `lines` the ends of lines.
  void skipSpace(bool lines) {
    while (!in_.atEnd()) {
      const char32_t c = in_.peek();
      if (c == '#') {
        while (!in_.atEnd() && in_.peek() != '\n')
          in_.next();
      } else if (c == ' ' || c == '\t' || c == '\r' || (lines && c == '\n')) {
        in_.next();
      } else {
        return;
      }
    }
  }

  std::string name() {
    std::string out;
    while (isNameChar(in_.peek()))
      out.push_back(static_cast<char>(in_.next()));
    return out;
  }

  int ruleNumber(const std::string& name, std::size_t at) {
    const auto [found, isNew] = names_.try_emplace(name, static_cast<int>(out_.rules.size()));
    if (isNew) {
      out_.rules.push_back(0);
      defined_.push_back(false);
      used_.push_back(at);
    }
    return found->second;
  }

  void rule() {
    const std::size_t at = in_.position();
    const std::string ruleName = name();
    if (ruleName.empty()) in_.fail("Here a rule must begin: name ::= expression.");
    skipSpace(false);
    if (!in_.take("::=")) in_.fail("Behind the name of a rule ::= must follow.");
    const auto number = static_cast<std::size_t>(ruleNumber(ruleName, at));
    if (defined_[number]) {
      in_.rewind(at);
      in_.fail("The rule " + ruleName + " is defined twice.");
    }
    defined_[number] = true;
    skipSpace(true);
    const int expression = choice(false);
    out_.rules[number] = expression;
    skipSpace(false);
    if (!in_.atEnd() && !in_.take('\n')) in_.fail("Here the line must end.");
  }

  // Whether a bar comes next, at the beginning of a later line too.
  bool takeBar(bool lines) {
    const std::size_t before = in_.position();
    skipSpace(true);
    if (in_.take('|')) {
      skipSpace(true);
      return true;
    }
    if (!lines) in_.rewind(before);
    return false;
  }

  int choice(bool lines) {
    std::vector<int> branches{sequence(lines)};
    while (takeBar(lines))
      branches.push_back(sequence(lines));
    return out_.pool.choice(std::move(branches));
  }

  int sequence(bool lines) {
    std::vector<int> parts;
    for (skipSpace(lines); startsItem(); skipSpace(lines))
      parts.push_back(quantified());
    return parts.empty() ? out_.pool.empty() : out_.pool.sequence(std::move(parts));
  }

  bool startsItem() const {
    const char32_t c = in_.peek();
    return c == '"' || c == '[' || c == '(' || c == '.' || isNameChar(c);
  }

  int quantified() {
    int part = item();
    for (;;) {
      if (in_.take('*')) {
        part = out_.pool.repeat(part, 0, kUnbounded);
      } else if (in_.take('+')) {
        part = out_.pool.repeat(part, 1, kUnbounded);
      } else if (in_.take('?')) {
        part = out_.pool.repeat(part, 0, 1);
      } else if (in_.peek() == '{') {
        part = braces(part);
      } else {
        return part;
      }
    }
  }

  // {m} {m,} {,n} {m,n}
  int braces(int part) {
    in_.next();
    const std::optional<int> low = in_.number();
    std::optional<int> high = low;
    const bool comma = in_.take(',');
    if (comma) {
      high = in_.number();
      if (!high) high = kUnbounded;
    }
    if ((!low && !comma) || !in_.take('}')) in_.fail("Behind { a repeat such as {3} or {1,5} must follow.");
    const int min = low.value_or(0);
    if (*high != kUnbounded && *high < min) in_.fail("The numbers in the braces run backwards.");
    return out_.pool.repeat(part, min, *high);
  }

  int item() {
    if (in_.take('"')) return text();
    if (in_.take('[')) return out_.pool.chars(readCharClass(in_));
    if (in_.take('.')) return out_.pool.chars(CharSet::all());
    if (in_.take('(')) {
      const Nesting nesting(depth_);
      const int inner = choice(true);
      skipSpace(true);
      if (!in_.take(')')) in_.fail("A parenthesis is not closed.");
      return inner;
    }
    const std::size_t at = in_.position();
    const int rule = ruleNumber(name(), at);
    return out_.pool.add({.kind = Expression::Kind::kRule, .index = rule});
  }

  int text() {
    std::vector<char32_t> chars;
    while (!in_.take('"')) {
      if (in_.atEnd() || in_.peek() == '\n') in_.fail("The text has no closing quote.");
      chars.push_back(in_.take('\\') ? readCharEscape(in_) : in_.next());
    }
    return chars.empty() ? out_.pool.empty() : out_.pool.literal(chars);
  }

  SourceReader in_;
  ParsedGrammar out_;
  std::map<std::string, int> names_;
  std::vector<bool> defined_;
  std::vector<std::size_t> used_;  // where a rule's name first stands
  int depth_ = 0;
};

}  // namespace

ParsedGrammar parseGrammar(std::string_view text) {
  return GrammarParser(text).parse();
}

}  // namespace tandem::constraint
