#include "engine/constraint/regex_parser.h"

#include <optional>

#include "engine/constraint/char_class.h"
#include "engine/constraint/source_reader.h"

namespace tandem::constraint {
namespace {

class RegexParser {
 public:
  RegexParser(std::string_view text, const std::string& field, ExpressionPool& pool)
      : in_(text, field), pool_(pool) {}

  int parse() {
    const int whole = choice();
    if (!in_.atEnd()) in_.fail("This closing parenthesis has no opening one.");
    return whole;
  }

 private:
  int choice() {
    std::vector<int> branches{sequence()};
    while (in_.take('|'))
      branches.push_back(sequence());
    return pool_.choice(std::move(branches));
  }

  int sequence() {
    std::vector<int> parts;
    while (!in_.atEnd() && in_.peek() != '|' && in_.peek() != ')')
      parts.push_back(quantified());
    return parts.empty() ? pool_.empty() : pool_.sequence(std::move(parts));
  }

  int quantified() {
    const int part = atom();
    const Expression::Kind kind = pool_.nodes[static_cast<std::size_t>(part)].kind;
    int min = 0, max = kUnbounded;
    if (!quantifier(min, max)) return part;
    if (kind == Expression::Kind::kTextBegin || kind == Expression::Kind::kTextEnd)
      in_.fail("^ and $ cannot be repeated.");
    in_.take('?');  // lazy: the same texts match
    int again = 0;
    if (in_.peek() == '*' || in_.peek() == '+' || in_.peek() == '?' || quantifier(again, again))
      in_.fail("One quantifier follows another.");
    return pool_.repeat(part, min, max);
  }

  bool quantifier(int& min, int& max) {
    if (in_.take('*')) return true;
    if (in_.take('+')) {
      min = 1;
      return true;
    }
    if (in_.take('?')) {
      max = 1;
      return true;
    }
    return braces(min, max);
  }

  // {m} {m,} {m,n}; any other brace is a character.
  bool braces(int& min, int& max) {
    const std::size_t start = in_.position();
    if (!in_.take('{')) return false;
    const std::optional<int> low = in_.number();
    std::optional<int> high = low;
    if (low && in_.take(',')) {
      high = in_.number();
      if (!high) high = kUnbounded;
    }
    if (!low || !in_.take('}')) {
      in_.rewind(start);
      return false;
    }
    if (*high != kUnbounded && *high < *low) in_.fail("The numbers in the braces run backwards.");
    min = *low;
    max = *high;
    return true;
  }

  int atom() {
    switch (in_.peek()) {
      case '(':
        return group();
      case '[':
        in_.next();
        return pool_.chars(readCharClass(in_));
      case '.':
        in_.next();
        return pool_.chars(CharSet{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}}.complement());
      case '^':
        in_.next();
        return pool_.add({.kind = Expression::Kind::kTextBegin});
      case '$':
        in_.next();
        return pool_.add({.kind = Expression::Kind::kTextEnd});
      case '*':
      case '+':
      case '?':
        in_.fail("There is nothing to repeat here.");
      case '\\':
        in_.next();
        if (isClassEscape(in_.peek())) return pool_.chars(classEscape(in_.next()));
        return pool_.chars(CharSet::single(readCharEscape(in_)));
      default:
        return pool_.chars(CharSet::single(in_.next()));
    }
  }

  int group() {
    const Nesting nesting(depth_);
    in_.next();
    if (in_.take('?')) {
      const bool lookbehind = in_.peek() == '<' && (in_.peek(1) == '=' || in_.peek(1) == '!');
      if (in_.peek() == '=' || in_.peek() == '!' || lookbehind)
        in_.fail("Lookahead and lookbehind are not supported.");
      if (in_.take('<')) {
        while (!in_.take('>')) {
          if (in_.atEnd()) in_.fail("The group's name has no end.");
          in_.next();
        }
      } else if (!in_.take(':')) {
        in_.fail("This kind of group is not supported.");
      }
    }
    const int inner = choice();
    if (!in_.take(')')) in_.fail("A parenthesis is not closed.");
    return inner;
  }

  SourceReader in_;
  ExpressionPool& pool_;
  int depth_ = 0;
};

}  // namespace

int parseRegex(std::string_view text, const std::string& field, ExpressionPool& pool) {
  return RegexParser(text, field, pool).parse();
}

}  // namespace tandem::constraint
