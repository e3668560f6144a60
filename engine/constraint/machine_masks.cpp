// The machine's view of the vocabulary: which tokens may follow, and how many it takes to an end.
#include <algorithm>

#include "engine/constraint/machine.h"

namespace tandem::constraint {
namespace {

constexpr std::size_t kMaxMaskBytes = std::size_t{16} << 20;
constexpr std::size_t kMaxShortestChoices = 4;  // bytes looked at where many lead to a shortest text

}  // namespace

const TokenMask& Machine::mask(int state) {
  return stateMask(state).mask;
}

// Where all tokens of an automaton leave enough room they are taken at once; of the others each is looked at.
const TokenMask& Machine::mask(int state, int tokensLeft) {
  const StateMask& all = stateMask(state);
  if (tokensLeft - 2 >= static_cast<int>(all.need)) return all.mask;
  const TokenTrie& trie = program_->trie();
  limited_ = TokenMask(trie.vocabSize());
  std::vector<int> single;
  std::vector<std::uint32_t> candidates;
  const std::vector<int> cells(cellsOf(state).begin(), cellsOf(state).end());
  for (const int at : cells) {
    if (at == kEnd) {
      for (const TokenId token : trie.endTokens())
        limited_.add(token);
    } else if (nodeOf(cell(at)).kind == Node::Kind::kLiteral ||
               tokensLeft - 2 < static_cast<int>(needInside(cell(at)))) {
      single.push_back(at);
    } else {
      const int next = cell(at).next;
      const auto inside = addInside(cell(at), limited_);
      const int behind = inside->exits.empty() ? kDead : closure({next});
      for (const std::uint32_t exit : inside->exits)
        collectBelow(behind, exit, candidates);
    }
  }
  if (!single.empty()) collectBelow(stateOf(single), TokenTrie::kRoot, candidates);
  for (const std::uint32_t node : candidates) {
    const int behind = advanceToken(state, trie.tokens(node).front());
    if (behind == kDead || !endsWithin(behind, tokensLeft - 1)) continue;
    for (const TokenId token : trie.tokens(node))
      limited_.add(token);
  }
  return limited_;
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
      const int next = cell(at).next;
      out.need = std::max(out.need, needInside(cell(at)));
      const auto inside = addInside(cell(at), out.mask);
      const int behind = inside->exits.empty() ? kDead : closure({next});
      for (const std::uint32_t exit : inside->exits)
        addBelow(behind, exit, out);
    }
  }
  if (!literals.empty()) addBelow(stateOf(literals), TokenTrie::kRoot, out);
  return masks_.emplace(state, std::move(out)).first->second;
}

// Behind a token that stays inside an automaton or string, or ends with it, no more bytes are needed than
// this.
std::uint32_t Machine::needInside(const Cell& at) const {
  const Node& node = nodeOf(at);
  // A string's need grows by less than 16 bytes while a character is begun.
  const std::uint32_t farthest =
      node.kind == Node::Kind::kDfa
          ? static_cast<std::uint32_t>(
                program_->grammar().dfas[static_cast<std::size_t>(node.index)].farthest)
          : addNeeds(program_->need(at.element), 16);
  return addNeeds(farthest, cell(at.next).need);
}

// Adds the tokens that stay inside an automaton or string or end with it. They are known for all its places
// alike; only tokens that leave it, below the exits, depend on what follows.
std::shared_ptr<const Program::Inside> Machine::addInside(const Cell& at, TokenMask& out) {
  std::shared_ptr<const Program::Inside> inside = program_->inside(at.element);
  for (const TokenId token : inside->few)
    out.add(token);
  if (inside->many.size() != 0) out.addAll(inside->many);
  return inside;
}

// The trie's nodes with tokens that may follow, below `from`, at which the text stands at `state`.
void Machine::collectBelow(int state, std::uint32_t from, std::vector<std::uint32_t>& nodes) {
  if (state == kDead) return;
  const TokenTrie& trie = program_->trie();
  const auto step = [&](int at, std::uint8_t byte, int& next) { return (next = advance(at, byte)) != kDead; };
  trie.walk(from, state, step, [&](std::uint32_t node, int) {
    if (!trie.tokens(node).empty()) nodes.push_back(node);
  });
}

void Machine::addBelow(int state, std::uint32_t from, StateMask& out) {
  if (state == kDead) return;
  const TokenTrie& trie = program_->trie();
  const auto step = [&](int at, std::uint8_t byte, int& next) { return (next = advance(at, byte)) != kDead; };
  trie.walk(from, state, step, [&](std::uint32_t node, int at) {
    if (trie.tokens(node).empty()) return;
    out.need = std::max(out.need, need(at));
    for (const TokenId token : trie.tokens(node))
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
