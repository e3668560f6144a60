// The syntax tree that regular expressions and grammars are read into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/constraint/char_set.h"

namespace tandem::constraint {

inline constexpr int kUnbounded = -1;

struct Expression {
  enum class Kind : std::uint8_t {
    kEmpty,      // matches the empty text
    kChars,      // one character of sets[index]
    kSequence,   // children one after the other
    kChoice,     // one of the children; none: matches nothing
    kRepeat,     // children[0], min to max times (kUnbounded: without limit)
    kRule,       // the grammar's rule `index`
    kTextBegin,  // nothing, where the text begins
    kTextEnd,    // nothing, where the text ends
  };
  Kind kind = Kind::kEmpty;
  int index = 0;
  int min = 0;
  int max = 0;
  std::vector<int> children = {};
};

// Owns expressions; they name each other by their place in `nodes`, children before parents.
struct ExpressionPool {
  std::vector<Expression> nodes;
  std::vector<CharSet> sets;

  int add(Expression expression) {
    nodes.push_back(std::move(expression));
    return static_cast<int>(nodes.size()) - 1;
  }
  int empty() { return add({}); }
  int chars(CharSet set) {
    sets.push_back(std::move(set));
    return add({.kind = Expression::Kind::kChars, .index = static_cast<int>(sets.size()) - 1});
  }
  int sequence(std::vector<int> children) {
    if (children.size() == 1) return children.front();
    return add({.kind = Expression::Kind::kSequence, .children = std::move(children)});
  }
  int choice(std::vector<int> children) {
    if (children.size() == 1) return children.front();
    return add({.kind = Expression::Kind::kChoice, .children = std::move(children)});
  }
  int repeat(int child, int min, int max) {
    return add({.kind = Expression::Kind::kRepeat, .min = min, .max = max, .children = {child}});
  }
  // The characters of a text one after the other.
  int literal(const std::vector<char32_t>& text) {
    std::vector<int> children;
    children.reserve(text.size());
    for (const char32_t c : text)
      children.push_back(chars(CharSet::single(c)));
    return sequence(std::move(children));
  }
};

}  // namespace tandem::constraint
