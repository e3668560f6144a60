#include "engine/constraint/char_nfa.h"

#include "engine/constraint/source_reader.h"

namespace tandem::constraint {
namespace {

using Kind = Expression::Kind;

// Writes out the automaton from its end to its start: each part is given the node that follows it.
class NfaBuilder {
 public:
  NfaBuilder(const ExpressionPool& pool, const std::vector<int>& rules, Budget& budget)
      : pool_(pool), rules_(rules), budget_(budget), setOf_(pool.sets.size(), CharNfa::kNone) {}

  CharNfa build(int expression, Match match) {
    int last = add({CharNfa::Kind::kMatch});
    if (match == Match::kAnywhere) last = anyLoop(last);
    nfa_.start = part(expression, last);
    if (match == Match::kAnywhere) nfa_.start = anyLoop(nfa_.start);
    return std::move(nfa_);
  }

 private:
  int add(CharNfa::Node node) {
    if (nfa_.nodes.size() >= kMaxNfaNodes)
      Budget::overrun("The regular expression is too large when its repeats are written out");
    budget_.spend(1);
    nfa_.nodes.push_back(node);
    return static_cast<int>(nfa_.nodes.size()) - 1;
  }

  int anyLoop(int then) {
    nfa_.sets.push_back(CharSet::all());
    const int set = static_cast<int>(nfa_.sets.size()) - 1;
    const int split = add({CharNfa::Kind::kSplit, then});
    nfa_.nodes[static_cast<std::size_t>(split)].other =
        add({CharNfa::Kind::kChars, split, CharNfa::kNone, set});
    return split;
  }

  int localSet(int poolSet) {
    int& set = setOf_[static_cast<std::size_t>(poolSet)];
    if (set == CharNfa::kNone) {
      set = static_cast<int>(nfa_.sets.size());
      nfa_.sets.push_back(pool_.sets[static_cast<std::size_t>(poolSet)]);
    }
    return set;
  }

  // The first node of the expression when `then` follows it.
  int part(int expression, int then) {
    const Nesting nesting(depth_);
    const Expression& e = pool_.nodes[static_cast<std::size_t>(expression)];
    switch (e.kind) {
      case Kind::kEmpty:
        return then;
      case Kind::kChars:
        return add({CharNfa::Kind::kChars, then, CharNfa::kNone, localSet(e.index)});
      case Kind::kTextBegin:
        return add({CharNfa::Kind::kTextBegin, then});
      case Kind::kTextEnd:
        return add({CharNfa::Kind::kTextEnd, then});
      case Kind::kRule:
        return part(rules_[static_cast<std::size_t>(e.index)], then);
      case Kind::kSequence: {
        for (auto child = e.children.rbegin(); child != e.children.rend(); ++child)
          then = part(*child, then);
        return then;
      }
      case Kind::kChoice: {
        int first = add({CharNfa::Kind::kSplit});  // leads nowhere
        for (auto child = e.children.rbegin(); child != e.children.rend(); ++child) {
          const int branch = part(*child, then);
          first = add({CharNfa::Kind::kSplit, branch, first});
        }
        return first;
      }
      case Kind::kRepeat:
        return repeat(e, then);
    }
    return then;
  }

  int repeat(const Expression& e, int then) {
    if (e.max == kUnbounded) {
      const int loop = add({CharNfa::Kind::kSplit, then});
      const int body = part(e.children.front(), loop);
      nfa_.nodes[static_cast<std::size_t>(loop)].other = body;
      then = loop;
    }
    const int optional = e.max == kUnbounded ? 0 : e.max - e.min;
    const int end = then;
    for (int i = 0; i < optional; ++i)
      then = add({CharNfa::Kind::kSplit, end, part(e.children.front(), then)});
    for (int i = 0; i < e.min; ++i)
      then = part(e.children.front(), then);
    return then;
  }

  const ExpressionPool& pool_;
  const std::vector<int>& rules_;
  Budget& budget_;
  CharNfa nfa_;
  std::vector<int> setOf_;  // the pool's sets that are used, in nfa_.sets
  int depth_ = 0;
};

}  // namespace

CharNfa buildCharNfa(const ExpressionPool& pool, int expression, Match match, Budget& budget,
                     const std::vector<int>& rules) {
  return NfaBuilder(pool, rules, budget).build(expression, match);
}

}  // namespace tandem::constraint
