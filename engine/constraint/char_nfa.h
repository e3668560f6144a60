// A nondeterministic automaton over characters, written out from an expression; the step before CharDfa.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/constraint/char_dfa.h"

namespace tandem::constraint {

struct CharNfa {
  enum class Kind : std::uint8_t {
    kSplit,      // goes on to `out` and, when it is not kNone, to `other`
    kChars,      // takes a character of the pool's set `set`, then `out`
    kTextBegin,  // only before the first character
    kTextEnd,    // only behind the last one
    kMatch,
  };
  static constexpr int kNone = -1;
  struct Node {
    Kind kind;
    int out = kNone;
    int other = kNone;
    int set = 0;
  };
  std::vector<Node> nodes;
  std::vector<CharSet> sets;
  int start = 0;
};

CharNfa buildCharNfa(const ExpressionPool& pool, int expression, Match match, Budget& budget,
                     const std::vector<int>& rules);

}  // namespace tandem::constraint
