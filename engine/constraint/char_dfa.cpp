#include "engine/constraint/char_dfa.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "engine/constraint/char_nfa.h"

namespace tandem::constraint {
namespace {

// Numbers the states that a builder meets, each by its key, and keeps those that are still to be expanded.
template <class Key>
class StateNumbers {
 public:
  explicit StateNumbers(Budget& budget) : budget_(budget) {}
  int of(Key key) {
    const auto [at, isNew] = numbers_.try_emplace(std::move(key), static_cast<int>(keys_.size()));
    if (isNew) {
      if (keys_.size() >= kMaxCharStates)
        Budget::overrun("The regular expressions and lengths need too many states");
      keys_.push_back(&at->first);
    }
    budget_.spend(1);
    return at->second;
  }
  std::size_t size() const { return keys_.size(); }
  const Key& key(std::size_t state) const { return *keys_[state]; }

 private:
  Budget& budget_;
  std::map<Key, int> numbers_;
  std::vector<const Key*> keys_;
};

std::vector<char32_t> classStarts(const std::vector<CharSet>& sets) {
  std::vector<char32_t> starts{0};
  for (const CharSet& set : sets) {
    for (const CharRange& range : set.ranges()) {
      starts.push_back(range.first);
      if (range.last < kMaxCodePoint) starts.push_back(range.last + 1);
    }
  }
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  return starts;
}

int classIn(const std::vector<char32_t>& starts, char32_t c) {
  return static_cast<int>(std::upper_bound(starts.begin(), starts.end(), c) - starts.begin()) - 1;
}

// The subset construction.
class Determiniser {
 public:
  Determiniser(CharNfa nfa, Budget& budget) : nfa_(std::move(nfa)), budget_(budget), states_(budget) {
    dfa_.starts = classStarts(nfa_.sets);
    seen_.assign(nfa_.nodes.size(), 0);
  }

  CharDfa build() {
    const std::vector<int> first = closure({nfa_.start}, true, false);
    dfa_.start = states_.of(first);
    const auto classes = static_cast<std::size_t>(dfa_.classes());
    for (std::size_t state = 0; state < states_.size(); ++state) {
      const std::vector<int> set = states_.key(state);
      dfa_.accepts.push_back(accepts(set, state == 0));
      std::vector<std::vector<int>> after(classes);
      for (const int node : set)
        addSteps(nfa_.nodes[static_cast<std::size_t>(node)], after);
      for (std::vector<int>& nodes : after) {
        const std::vector<int> closed = nodes.empty() ? nodes : closure(std::move(nodes), false, false);
        dfa_.next.push_back(closed.empty() ? CharDfa::kDead : states_.of(closed));
      }
      budget_.spend(classes);
    }
    return std::move(dfa_);
  }

 private:
  void addSteps(const CharNfa::Node& node, std::vector<std::vector<int>>& after) {
    if (node.kind != CharNfa::Kind::kChars) return;
    for (const CharRange& range : nfa_.sets[static_cast<std::size_t>(node.set)].ranges()) {
      const int last = classIn(dfa_.starts, range.last);
      for (int c = classIn(dfa_.starts, range.first); c <= last; ++c) {
        after[static_cast<std::size_t>(c)].push_back(node.out);
        budget_.spend(1);
      }
    }
  }

  bool accepts(const std::vector<int>& set, bool atBegin) {
    const std::vector<int> atEnd = closure(set, atBegin, true);
    return std::any_of(atEnd.begin(), atEnd.end(), [&](int node) {
      return nfa_.nodes[static_cast<std::size_t>(node)].kind == CharNfa::Kind::kMatch;
    });
  }

  // What can be reached without taking a character, sorted; splits themselves are left out.
  std::vector<int> closure(std::vector<int> work, bool atBegin, bool atEnd) {
    std::vector<int> out;
    ++round_;
    while (!work.empty()) {
      const int at = work.back();
      work.pop_back();
      if (at == CharNfa::kNone || seen_[static_cast<std::size_t>(at)] == round_) continue;
      seen_[static_cast<std::size_t>(at)] = round_;
      budget_.spend(1);
      const CharNfa::Node& node = nfa_.nodes[static_cast<std::size_t>(at)];
      if (node.kind == CharNfa::Kind::kSplit) {
        work.push_back(node.out);
        work.push_back(node.other);
        continue;
      }
      const bool passes = (node.kind == CharNfa::Kind::kTextBegin && atBegin) ||
                          (node.kind == CharNfa::Kind::kTextEnd && atEnd);
      if (passes) work.push_back(node.out);
      // A beginning that has passed is of no use behind the first character.
      if (node.kind != CharNfa::Kind::kTextBegin || atBegin) out.push_back(at);
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  const CharNfa nfa_;
  Budget& budget_;
  StateNumbers<std::vector<int>> states_;
  CharDfa dfa_;
  std::vector<unsigned> seen_;
  unsigned round_ = 0;
};

}  // namespace

int CharDfa::classOf(char32_t c) const {
  return classIn(starts, c);
}

bool CharDfa::matches(const std::vector<char32_t>& text) const {
  int state = start;
  for (const char32_t c : text) {
    state = after(state, classOf(c));
    if (state == kDead) return false;
  }
  return accepts[static_cast<std::size_t>(state)] != 0;
}

bool CharDfa::isEmpty() const {
  std::vector<std::uint8_t> seen(accepts.size());
  std::vector<int> work{start};
  seen[static_cast<std::size_t>(start)] = 1;
  while (!work.empty()) {
    const int state = work.back();
    work.pop_back();
    if (accepts[static_cast<std::size_t>(state)] != 0) return false;
    for (int c = 0; c < classes(); ++c) {
      const int to = after(state, c);
      if (to == kDead || seen[static_cast<std::size_t>(to)] != 0) continue;
      seen[static_cast<std::size_t>(to)] = 1;
      work.push_back(to);
    }
  }
  return true;
}

CharDfa buildCharDfa(const ExpressionPool& pool, int expression, Match match, Budget& budget,
                     const std::vector<int>& rules) {
  return Determiniser(buildCharNfa(pool, expression, match, budget, rules), budget).build();
}

CharDfa lengthDfa(int min, int max, Budget& budget) {
  const int last = max == kUnbounded ? min : max;
  if (static_cast<std::size_t>(last) >= kMaxCharStates)
    Budget::overrun("The length goes beyond what can be joined with a pattern or a format");
  budget.spend(static_cast<std::size_t>(last) + 1);
  CharDfa dfa;
  for (int length = 0; length <= last; ++length) {
    dfa.accepts.push_back(length >= min);
    dfa.next.push_back(length < last ? length + 1 : max == kUnbounded ? length : CharDfa::kDead);
  }
  return dfa;
}

CharDfa literalDfa(const std::vector<std::vector<char32_t>>& texts, Budget& budget) {
  // A trie whose nodes are named by the range of sorted texts that go through them, and their depth.
  std::vector<const std::vector<char32_t>*> sorted;
  std::vector<CharSet> sets;
  for (const std::vector<char32_t>& text : texts) {
    sorted.push_back(&text);
    for (const char32_t c : text)
      sets.push_back(CharSet::single(c));
    budget.spend(text.size());
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return *a < *b; });
  struct Part {
    std::size_t begin, end, depth;
  };
  CharDfa dfa;
  dfa.starts = classStarts(sets);
  const std::size_t classes = dfa.starts.size();
  std::vector<Part> parts{{0, sorted.size(), 0}};
  for (std::size_t state = 0; state < parts.size(); ++state) {
    auto [at, end, depth] = parts[state];
    bool ends = false;
    for (; at < end && sorted[at]->size() == depth; ++at)
      ends = true;
    dfa.accepts.push_back(ends);
    dfa.next.resize(dfa.next.size() + classes, CharDfa::kDead);
    while (at < end) {
      const char32_t c = (*sorted[at])[depth];
      std::size_t to = at;
      while (to < end && (*sorted[to])[depth] == c)
        ++to;
      if (parts.size() >= kMaxCharStates) Budget::overrun("The fixed texts need too many states");
      dfa.next[state * classes + static_cast<std::size_t>(dfa.classOf(c))] = static_cast<int>(parts.size());
      parts.push_back({at, to, depth + 1});
      at = to;
    }
    budget.spend(classes);
  }
  return dfa;
}

CharDfa intersect(const CharDfa& a, const CharDfa& b, Budget& budget) {
  CharDfa dfa;
  std::set_union(a.starts.begin(), a.starts.end(), b.starts.begin(), b.starts.end(),
                 std::back_inserter(dfa.starts));
  dfa.starts.erase(dfa.starts.begin());  // both begin with 0
  StateNumbers<std::pair<int, int>> states(budget);
  dfa.start = states.of({a.start, b.start});
  for (std::size_t state = 0; state < states.size(); ++state) {
    const auto [inA, inB] = states.key(state);
    dfa.accepts.push_back(a.accepts[static_cast<std::size_t>(inA)] &
                          b.accepts[static_cast<std::size_t>(inB)]);
    for (const char32_t c : dfa.starts) {
      const int toA = a.after(inA, a.classOf(c));
      const int toB = b.after(inB, b.classOf(c));
      const bool dead = toA == CharDfa::kDead || toB == CharDfa::kDead;
      dfa.next.push_back(dead ? CharDfa::kDead : states.of({toA, toB}));
    }
    budget.spend(dfa.starts.size());
  }
  return dfa;
}

CharDfa complement(const CharDfa& dfa, Budget& budget) {
  CharDfa out = dfa;
  const int sink = out.states();
  budget.spend(out.next.size());
  std::replace(out.next.begin(), out.next.end(), CharDfa::kDead, sink);
  out.next.resize(out.next.size() + out.starts.size(), sink);
  for (std::uint8_t& accepts : out.accepts)
    accepts = accepts == 0;
  out.accepts.push_back(1);
  return out;
}

}  // namespace tandem::constraint
