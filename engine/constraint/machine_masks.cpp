// The machine's view of the vocabulary: which tokens may follow, and how many it takes to an end.
#include <algorithm>

#include "engine/constraint/machine.h"

namespace tandem::constraint {
namespace {

constexpr std::size_t kMaxMaskBytes = std::size_t{16} << 20;
constexpr std::size_t kMaxShortestChoices = 4;  // bytes looked at where many lead to a shortest text

}  // namespace

// Visits the nodes with tokens that may follow, below `from`, with the state behind them; the text stands at
// `state` there.
template <class Visit>
void Machine::visitBelow(int state, std::uint32_t from, const Visit& visit) {
  if (state == kDead) return;
  const TokenTrie& trie = program_->trie();
  const auto step = [&](int at, std::uint8_t byte, int& next) { return (next = advance(at, byte)) != kDead; };
  trie.walk(from, state, step, [&](std::uint32_t node, int at) {
    if (!trie.tokens(node).empty()) visit(node, at);
  });
}

const TokenMask& Machine::mask(int state) {
  return stateMask(state).mask;
}

// The tokens that stay inside an automaton or string are judged by the places that they lead to, of which
// there are few; of those that other cells can take too, or that leave it, each is judged by itself.
const TokenMask& Machine::mask(int state, int tokensLeft) {
  const StateMask& all = stateMask(state);
  if (tokensLeft - 2 >= static_cast<int>(all.need)) return all.mask;
  const TokenTrie& trie = program_->trie();
  limited_ = TokenMask(trie.vocabSize());
  const std::vector<int> cells(cellsOf(state).begin(), cellsOf(state).end());
  const int grouped = cellWithMostTokens(cells);
  std::vector<int> others;
  for (const int at : cells) {
    if (at == kEnd) {
      for (const TokenId token : trie.endTokens())
        limited_.add(token);
    } else if (at != grouped) {
      others.push_back(at);
    }
  }
  std::vector<std::uint32_t> candidates;
  if (grouped != kNoCell) addGroupsWithin(grouped, tokensLeft, candidates);
  if (!others.empty()) collectBelow(stateOf(others), TokenTrie::kRoot, candidates);
  for (const std::uint32_t node : candidates) {
    const int behind = advanceToken(state, trie.tokens(node).front());
    const bool fits = behind != kDead && endsWithin(behind, tokensLeft - 1);
    for (const TokenId token : trie.tokens(node))
      limited_.set(token, fits);
  }
  return limited_;
}

// The automaton or string among the cells inside which most tokens stay.
int Machine::cellWithMostTokens(std::span<const int> cells) const {
  int best = kNoCell;
  std::size_t most = 0;
  for (const int at : cells) {
    if (at == kEnd || nodeOf(cell(at)).kind == Node::Kind::kLiteral) continue;
    const std::size_t tokens = program_->inside(program_->alike(cell(at).element))->tokens;
    if (best != kNoCell && tokens <= most) continue;
    best = at;
    most = tokens;
  }
  return best;
}

// Of the tokens inside the cell, adds those behind which `tokensLeft - 1` are enough; collects the nodes of
// those that leave it.
void Machine::addGroupsWithin(int at, int tokensLeft, std::vector<std::uint32_t>& candidates) {
  const Cell from = cell(at);  // cells_ may grow
  const auto inside = program_->inside(from.element);
  for (const Program::Group& group : inside->groups) {
    const auto behind = program_->behind(from.element, group);
    const int cellBehind = behind ? cellAt(*behind, from.next) : kNoCell;
    if (cellBehind == kNoCell) continue;
    const int state = closure({cellBehind});
    if (state != kDead && endsWithin(state, tokensLeft - 1)) group.addTo(limited_);
  }
  const int left = inside->exits.empty() ? kDead : closure({from.next});
  for (const Program::Exit& exit : inside->exits)
    if (program_->allows(from.element, exit)) collectBelow(left, exit.node, candidates);
}

// Every available byte is a token, so the fewest tokens are never more than the fewest bytes.
bool Machine::endsWithin(int state, int tokens) {
  return tokens - 1 >= static_cast<int>(need(state)) || tokensToEnd(state) <= tokens;
}

const Machine::StateMask& Machine::stateMask(int state) {
  const auto known = masks_.find(state);
  if (known != masks_.end()) return known->second;
  const TokenTrie& trie = program_->trie();
  const std::size_t maskBytes = trie.vocabSize() / 8 + 1;
  if (masks_.size() >= std::max<std::size_t>(kMaxMaskBytes / maskBytes, 8)) masks_.clear();
  StateMask out{TokenMask(trie.vocabSize())};
  std::vector<int> literals;
  const std::vector<int> cells(cellsOf(state).begin(), cellsOf(state).end());
  for (const int at : cells) {
    if (at == kEnd) {
      for (const TokenId token : trie.endTokens())
        out.mask.add(token);
    } else if (nodeOf(cell(at)).kind == Node::Kind::kLiteral) {
      literals.push_back(at);
    } else {
      addInside(cell(at), out);
    }
  }
  if (!literals.empty()) addBelow(stateOf(literals), TokenTrie::kRoot, out);
  return masks_.emplace(state, std::move(out)).first->second;
}

// Adds the tokens that stay inside an automaton or string or end with it, and those that leave it: these are
// below the exits, and depend on what follows.
void Machine::addInside(Cell from, StateMask& out) {
  const Element alike = program_->alike(from.element);
  const auto inside = program_->inside(alike);
  std::uint32_t need = alike == from.element ? 0 : program_->mostNeed(from.element);
  for (const Program::Group& group : inside->groups) {
    const auto behind = program_->behind(alike, group);
    if (!behind) continue;
    group.addTo(out.mask);
    if (alike == from.element) need = std::max(need, program_->need(*behind));
  }
  out.need = std::max(out.need, addNeeds(need, cell(from.next).need));
  const int left = inside->exits.empty() ? kDead : closure({from.next});
  for (const Program::Exit& exit : inside->exits)
    if (program_->allows(from.element, exit)) addBelow(left, exit.node, out);
}

// The trie's nodes with tokens that may follow, below `from`, at which the text stands at `state`.
void Machine::collectBelow(int state, std::uint32_t from, std::vector<std::uint32_t>& nodes) {
  visitBelow(state, from, [&](std::uint32_t node, int) { nodes.push_back(node); });
}

void Machine::addBelow(int state, std::uint32_t from, StateMask& out) {
  visitBelow(state, from, [&](std::uint32_t node, int at) {
    out.need = std::max(out.need, need(at));
    for (const TokenId token : program_->trie().tokens(node))
      out.mask.add(token);
  });
}

// The bytes that a shortest text may go on with: without detours, and of many bytes the first few.
std::bitset<256> Machine::shortestBytes(int state) {
  std::bitset<256> bytes;
  std::uint32_t detours = ~std::uint32_t{0};
  for (const int at : cellsOf(state)) {
    if (cell(at).need == need(state)) detours = std::min(detours, cell(at).detours);
  }
  for (const int at : cellsOf(state)) {
    if (at == kEnd || cell(at).need != need(state) || cell(at).detours != detours) continue;
    const std::uint32_t before = program_->need(cell(at).element);
    std::size_t found = 0;
    for (std::size_t b = 0; b < 256 && found < kMaxShortestChoices; ++b) {
      Element element = cell(at).element;
      if (!program_->grammar().alphabet.bytes[b] || !program_->step(element, static_cast<std::uint8_t>(b)))
        continue;
      if (program_->need(element) + 1 != before) continue;
      bytes.set(b);
      ++found;
    }
  }
  return bytes;
}

// The states behind the tokens that spell the beginning of a shortest text.
std::vector<int> Machine::shortestSuccessors(int state) {
  struct Place {
    int state;
    std::bitset<256> bytes;
  };
  std::vector<int> out;
  const auto step = [&](const Place& at, std::uint8_t byte, Place& next) {
    if (!at.bytes[byte]) return false;
    next.state = advance(at.state, byte);
    if (next.state == kDead || need(next.state) + 1 != need(at.state)) return false;
    next.bytes = shortestBytes(next.state);
    return true;
  };
  const TokenTrie& trie = program_->trie();
  trie.walk(TokenTrie::kRoot, Place{state, shortestBytes(state)}, step,
            [&](std::uint32_t node, const Place& at) {
              if (!trie.tokens(node).empty()) out.push_back(at.state);
            });
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

int Machine::tokensToEnd(int asked) {
  std::unordered_map<int, std::vector<int>> successors;
  std::vector<int> work{asked};
  while (!work.empty() && status_.ok()) {
    const int state = work.back();
    if (states_[static_cast<std::size_t>(state)].tokensToEnd != 0) {
      work.pop_back();
      continue;
    }
    int fewest = need(state) == 0 ? 0 : static_cast<int>(Grammar::kNever);
    bool known = true;
    if (fewest != 0) {
      auto at = successors.find(state);
      if (at == successors.end()) at = successors.emplace(state, shortestSuccessors(state)).first;
      for (const int next : at->second) {
        const int tokens = states_[static_cast<std::size_t>(next)].tokensToEnd;
        if (tokens == 0) {
          work.push_back(next);
          known = false;
        }
        fewest = std::min(fewest, tokens);
      }
    }
    if (known) {
      states_[static_cast<std::size_t>(state)].tokensToEnd = fewest + 1;
      work.pop_back();
    }
  }
  return status_.ok() ? states_[static_cast<std::size_t>(asked)].tokensToEnd
                      : static_cast<int>(Grammar::kNever);
}

}  // namespace tandem::constraint
