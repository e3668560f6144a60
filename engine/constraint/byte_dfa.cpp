#include "engine/constraint/byte_dfa.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "engine/constraint/byte_dfa_builder.h"

namespace tandem::constraint {
namespace {

using Edge = ByteDfaBuilder::Edge;
using Row = ByteDfaBuilder::Row;
constexpr int kDead = ByteDfa::kDead;

// Joins neighbouring ranges that lead to the same state.
void addEdge(Row& row, int first, int last, int to) {
  if (to == kDead) return;
  if (!row.empty() && row.back().to == to && row.back().last + 1 == first) {
    row.back().last = static_cast<std::uint8_t>(last);
  } else {
    row.push_back({static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(last), to});
  }
}

// Where one state of a CharDfa leads: ranges of characters with the byte state behind them, in order.
struct Targets {
  struct Part {
    char32_t first;
    char32_t last;
    int to;
  };
  std::vector<Part> parts;  // gaps lead nowhere

  void add(char32_t first, char32_t last, int to) {
    if (to == kDead || first > last) return;
    if (!parts.empty() && parts.back().to == to && parts.back().last + 1 == first) {
      parts.back().last = last;
    } else {
      parts.push_back({first, last, to});
    }
  }
  // Whether all of [first, last] leads to one place, and where.
  bool uniform(char32_t first, char32_t last, int& to) const {
    auto at = std::lower_bound(parts.begin(), parts.end(), first,
                               [](const Part& part, char32_t c) { return part.last < c; });
    to = kDead;
    if (at == parts.end() || at->first > last) return true;
    to = at->to;
    return at->first <= first && at->last >= last;
  }
  // Without the characters of `set`.
  Targets without(const CharSet& set) const {
    Targets out;
    for (const Part& part : parts) {
      char32_t first = part.first;
      for (const CharRange& range : set.ranges()) {
        if (range.last < first || range.first > part.last) continue;
        if (range.first > first) out.add(first, range.first - 1, part.to);
        first = range.last + 1;
      }
      out.add(first, part.last, part.to);
    }
    return out;
  }
};

Targets targetsOf(const CharDfa& dfa, int state, const std::vector<int>& byteStates) {
  Targets targets;
  for (int c = 0; c < dfa.classes(); ++c) {
    const int to = dfa.after(state, c);
    if (to == CharDfa::kDead) continue;
    const char32_t first = dfa.starts[static_cast<std::size_t>(c)];
    const char32_t last =
        c + 1 < dfa.classes() ? dfa.starts[static_cast<std::size_t>(c) + 1] - 1 : kMaxCodePoint;
    targets.add(first, last, byteStates[static_cast<std::size_t>(to)]);
  }
  return targets;
}

Targets withoutSurrogates(const Targets& targets) {
  Targets out;
  for (const Targets::Part& part : targets.parts) {
    out.add(part.first, std::min<char32_t>(part.last, kFirstSurrogate - 1), part.to);
    out.add(std::max<char32_t>(part.first, kLastSurrogate + 1), part.last, part.to);
  }
  return out;
}

// Writes the edges of one character as bytes.
class CharWriter {
 public:
  CharWriter(ByteDfaBuilder& builder, const ByteAlphabet& alphabet, Budget& budget)
      : builder_(builder), alphabet_(alphabet), budget_(budget) {}

  // The first bytes of the characters' UTF-8, added to `row` in ascending order.
  void addUtf8(const Targets& all, Row& row) {
    const Targets targets = alphabet_.noNoncharacters ? all.without(CharSet{{0xFDD0, 0xFDEF}}) : all;
    for (const Targets::Part& part : targets.parts) {
      if (part.first < 0x80)
        addEdge(row, static_cast<int>(part.first), static_cast<int>(std::min<char32_t>(part.last, 0x7F)),
                part.to);
    }
    addLead(targets, 0xC0, 0xDF, 1, 0x80, row);
    addLead(targets, 0xE0, 0xEF, 2, 0x800, row);
    addLead(targets, 0xF0, 0xF4, 3, 0x10000, row);
  }

  // The state in which the four hexadecimal digits of a \u escape are read.
  int hexEscape(const Targets& targets) { return hexDigits(targets, 0, 3); }

 private:
  // Lead bytes first … last, each of which is followed by `tail` bytes; characters below `least` would be
  // overlong.
  void addLead(const Targets& targets, int first, int last, int tail, char32_t least, Row& row) {
    for (int lead = first; lead <= last; ++lead) {
      const auto base = static_cast<char32_t>(lead - first) << (6 * tail);
      addEdge(row, lead, lead, utf8Tail(targets, base, tail, least));
    }
  }

  int utf8Tail(const Targets& targets, char32_t base, int tail, char32_t least) {
    if (tail == 0) {
      int to = kDead;
      if (base >= least) targets.uniform(base, base, to);
      return to;
    }
    budget_.spend(1);
    const char32_t last = base + (char32_t{1} << (6 * tail)) - 1;
    int to = kDead;
    if (last < least || (targets.uniform(base, last, to) && (to == kDead || base >= least))) {
      if (to == kDead) return kDead;
      for (int i = 0; i < tail; ++i)
        to = builder_.shared({{0x80, 0xBF, to}});
      return to;
    }
    Row row;
    for (int b = 0x80; b <= 0xBF; ++b)
      addEdge(
          row, b, b,
          utf8Tail(targets, base + (static_cast<char32_t>(b & 0x3F) << (6 * (tail - 1))), tail - 1, least));
    return builder_.shared(std::move(row));
  }

  // The state that reads hexadecimal digit number `digit` (3 is the first) of code units from `base` on.
  int hexDigits(const Targets& targets, char32_t base, int digit) {
    if (digit < 0) return codeUnit(targets, base);
    budget_.spend(1);
    const char32_t last = base + (char32_t{16} << (4 * digit)) - 1;
    int to = kDead;
    const bool plain = last < kFirstSurrogate || base > kLastSurrogate;
    if (plain && targets.uniform(base, last, to)) return anyHex(to, digit + 1);
    if (base >= kFirstSurrogate && last < 0xDC00 &&
        targets.uniform(pairBase(base), pairBase(last) + 0x3FF, to))
      return anyHex(anyPair(to), digit + 1);
    return hexRow(
        [&](char32_t value) { return hexDigits(targets, base + (value << (4 * digit)), digit - 1); });
  }

  int codeUnit(const Targets& targets, char32_t unit) {
    if (unit >= 0xDC00 && unit <= kLastSurrogate) return kDead;
    int to = kDead;
    if (unit < kFirstSurrogate || unit > kLastSurrogate) {
      targets.uniform(unit, unit, to);
      return to;
    }
    const char32_t base = pairBase(unit);
    if (targets.uniform(base, base + 0x3FF, to)) return anyPair(to);
    return lowSurrogate([&](char32_t high) {
      return hexRow([&](char32_t mid) {
        return hexRow([&](char32_t low) {
          int end = kDead;
          const char32_t c = base + (high << 8) + (mid << 4) + low;
          targets.uniform(c, c, end);
          return end;
        });
      });
    });
  }

  // The first of the 1,024 characters that begin with this half of a pair.
  static char32_t pairBase(char32_t high) { return 0x10000 + ((high - kFirstSurrogate) << 10); }

  // Any second half of a pair.
  int anyPair(int to) {
    if (to == kDead) return kDead;
    to = anyHex(to, 2);
    return lowSurrogate([&](char32_t) { return to; });
  }

  // \uDC … \uDF; `behind` gives the state behind the second digit, for 0 … 3.
  template <class F>
  int lowSurrogate(const F& behind) {
    const int second = hexRow([&](char32_t value) { return value >= 0xC ? behind(value - 0xC) : kDead; });
    return chain("\\u", digitEdges(0xD, second));
  }

  // REQUIRES: text has two bytes
  int chain(const char* text, Row last) {
    int to = builder_.shared(std::move(last));
    if (to == kDead) return kDead;
    for (int i = 1; i >= 0; --i) {
      const auto byte = static_cast<std::uint8_t>(text[i]);
      to = builder_.shared({{byte, byte, to}});
    }
    return to;
  }

  static Row digitEdges(int value, int to) {
    Row row;
    if (value < 10) {
      addEdge(row, '0' + value, '0' + value, to);
    } else {
      addEdge(row, 'A' + value - 10, 'A' + value - 10, to);
      addEdge(row, 'a' + value - 10, 'a' + value - 10, to);
    }
    return row;
  }

  template <class F>
  int hexRow(const F& target) {
    int to[16];
    for (int value = 0; value < 16; ++value)
      to[value] = target(static_cast<char32_t>(value));
    Row row;
    for (int value = 0; value < 10; ++value)
      addEdge(row, '0' + value, '0' + value, to[value]);
    for (int value = 10; value < 16; ++value)
      addEdge(row, 'A' + value - 10, 'A' + value - 10, to[value]);
    for (int value = 10; value < 16; ++value)
      addEdge(row, 'a' + value - 10, 'a' + value - 10, to[value]);
    return builder_.shared(std::move(row));
  }

  int anyHex(int to, int digits) {
    for (int i = 0; i < digits && to != kDead; ++i)
      to = builder_.shared({{'0', '9', to}, {'A', 'F', to}, {'a', 'f', to}});
    return to;
  }

  ByteDfaBuilder& builder_;
  const ByteAlphabet& alphabet_;
  Budget& budget_;
};

// The characters that a JSON string must escape.
const CharSet& mustEscape() {
  static const CharSet set{{0, 0x1F}, {'"', '"'}, {'\\', '\\'}};
  return set;
}

struct ShortEscape {
  char letter;
  char32_t c;
};
constexpr ShortEscape kShortEscapes[] = {{'"', '"'},  {'/', '/'},  {'\\', '\\'}, {'b', '\b'},
                                         {'f', '\f'}, {'n', '\n'}, {'r', '\r'},  {'t', '\t'}};

// The state behind a backslash.
int escapeState(const Targets& targets, Escapes escapes, CharWriter& writer, ByteDfaBuilder& builder) {
  Row row;
  for (const ShortEscape& escape : kShortEscapes) {
    int to = kDead;
    targets.uniform(escape.c, escape.c, to);
    addEdge(row, escape.letter, escape.letter, to);
  }
  const Targets numbered =
      escapes == Escapes::kAll ? targets : targets.without(CharSet{{' ', '!'}, {'#', '['}, {']', '~'}});
  addEdge(row, 'u', 'u', writer.hexEscape(numbered));
  return builder.shared(std::move(row));
}

std::vector<int> reserveStates(const CharDfa& dfa, ByteDfaBuilder& builder, bool accepting) {
  std::vector<int> states;
  for (const std::uint8_t accepts : dfa.accepts)
    states.push_back(builder.reserve(accepting && accepts != 0));
  return states;
}

// Returns the start; `end` is the state behind the closing quote.
int writeJsonString(const CharDfa& dfa, Escapes escapes, const std::vector<int>& states, int end,
                    ByteDfaBuilder& builder, CharWriter& writer) {
  for (int state = 0; state < dfa.states(); ++state) {
    const Targets targets = withoutSurrogates(targetsOf(dfa, state, states));
    Row row;
    writer.addUtf8(targets.without(mustEscape()), row);
    addEdge(row, '\\', '\\', escapeState(targets, escapes, writer, builder));
    if (dfa.accepts[static_cast<std::size_t>(state)] != 0) addEdge(row, '"', '"', end);
    builder.setRow(states[static_cast<std::size_t>(state)], std::move(row));
  }
  return builder.shared({{'"', '"', states[static_cast<std::size_t>(dfa.start)]}});
}

}  // namespace

std::vector<int> statesAlike(const ByteDfa& dfa, int length) {
  constexpr std::size_t kMostWork = std::size_t{4} << 20;  // successors looked at
  const std::size_t states = dfa.accepts.size(), classes = static_cast<std::size_t>(dfa.classes);
  std::vector<int> alike(states);
  std::iota(alike.begin(), alike.end(), 0);
  if (states * classes * static_cast<std::size_t>(length) > kMostWork) return alike;
  std::vector<int> kind(dfa.accepts.begin(), dfa.accepts.end());
  std::size_t kinds = 0;
  for (int round = 0; round < length; ++round) {
    std::map<std::vector<int>, int> found;
    std::vector<int> finer(states);
    for (std::size_t state = 0; state < states; ++state) {
      std::vector<int> signature{kind[state]};
      for (std::size_t c = 0; c < classes; ++c) {
        const int next = dfa.next[state * classes + c];
        signature.push_back(next == ByteDfa::kDead ? -1 : kind[static_cast<std::size_t>(next)]);
      }
      finer[state] = found.emplace(std::move(signature), static_cast<int>(found.size())).first->second;
    }
    kind = std::move(finer);
    if (found.size() == kinds) break;
    kinds = found.size();
  }
  std::unordered_map<int, int> lowest;
  for (std::size_t state = 0; state < states; ++state)
    alike[state] = lowest.emplace(kind[state], static_cast<int>(state)).first->second;
  return alike;
}

ByteDfa plainText(const CharDfa& dfa, const ByteAlphabet& alphabet, Budget& budget) {
  ByteDfaBuilder builder(budget);
  CharWriter writer(builder, alphabet, budget);
  const std::vector<int> states = reserveStates(dfa, builder, true);
  for (int state = 0; state < dfa.states(); ++state) {
    Row row;
    writer.addUtf8(withoutSurrogates(targetsOf(dfa, state, states)), row);
    builder.setRow(states[static_cast<std::size_t>(state)], std::move(row));
  }
  return builder.build(states[static_cast<std::size_t>(dfa.start)], alphabet);
}

ByteDfa jsonString(const CharDfa& dfa, Escapes escapes, const ByteAlphabet& alphabet, Budget& budget) {
  ByteDfaBuilder builder(budget);
  CharWriter writer(builder, alphabet, budget);
  const int end = builder.reserve(true);
  const std::vector<int> states = reserveStates(dfa, builder, false);
  const int start = writeJsonString(dfa, escapes, states, end, builder, writer);
  return builder.build(start, alphabet);
}

CountedString countedJsonString(const ByteAlphabet& alphabet, Budget& budget) {
  const CharDfa any = lengthDfa(0, kUnbounded, budget);
  ByteDfaBuilder builder(budget);
  CharWriter writer(builder, alphabet, budget);
  const int end = builder.reserve(true);
  const std::vector<int> states = reserveStates(any, builder, false);
  const int start = writeJsonString(any, Escapes::kAll, states, end, builder, writer);
  std::vector<int> stateOf;
  CountedString out;
  out.dfa = builder.build(start, alphabet, &stateOf);
  const auto writable = [&](int b) {
    return b != '"' && b != '\\' && alphabet.bytes[static_cast<std::size_t>(b)];
  };
  bool anyChar = false;  // of one byte
  for (int b = ' '; b < 0x7F; ++b)
    anyChar = anyChar || writable(b);
  if (!anyChar) out.dfa.start = kDead;
  out.boundary = stateOf[static_cast<std::size_t>(states.front())];
  out.end = stateOf[static_cast<std::size_t>(end)];
  // Every way to the end goes over the boundary, from which the closing quote is one byte.
  for (const int distance : out.dfa.distance)
    out.toBoundary.push_back(distance - 1);
  return out;
}

}  // namespace tandem::constraint
