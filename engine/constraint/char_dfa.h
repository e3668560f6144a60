// Deterministic automata over characters: what regular expressions, lengths, formats and sets of names become
// before they are written in bytes.
//
// The code points are cut into classes that no state tells apart. Every builder spends the budget and keeps
// to kMaxCharStates.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/constraint/expression.h"
#include "engine/constraint/failure.h"

namespace tandem::constraint {

struct CharDfa {
  static constexpr int kDead = -1;

  std::vector<char32_t> starts{
      0};                 // class i runs from starts[i] to starts[i + 1] - 1, the last one to U+10FFFF
  std::vector<int> next;  // (states, classes): the state behind, or kDead
  std::vector<std::uint8_t> accepts;  // (states): whether a text may end here
  int start = 0;

  int states() const { return static_cast<int>(accepts.size()); }
  int classes() const { return static_cast<int>(starts.size()); }
  int classOf(char32_t c) const;
  int after(int state, int charClass) const {
    return next[static_cast<std::size_t>(state) * starts.size() + static_cast<std::size_t>(charClass)];
  }
  bool matches(const std::vector<char32_t>& text) const;
  // Whether it matches no text at all.
  bool isEmpty() const;
};

// How an expression is held against a text.
enum class Match : std::uint8_t {
  kWhole,     // it must match the whole text
  kAnywhere,  // it must match somewhere in it, as JSON Schema's `pattern`
};

// The expression's rules are looked up in `rules` (rule index to expression), which must not be recursive.
CharDfa buildCharDfa(const ExpressionPool& pool, int expression, Match match, Budget& budget,
                     const std::vector<int>& rules = {});

// Every text of `min` to `max` characters (kUnbounded: without limit).
CharDfa lengthDfa(int min, int max, Budget& budget);
// Exactly these texts.
CharDfa literalDfa(const std::vector<std::vector<char32_t>>& texts, Budget& budget);
// Texts that both match.
CharDfa intersect(const CharDfa& a, const CharDfa& b, Budget& budget);
// Texts that it does not match.
CharDfa complement(const CharDfa& dfa, Budget& budget);

}  // namespace tandem::constraint
