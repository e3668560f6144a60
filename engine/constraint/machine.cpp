#include "engine/constraint/machine.h"

#include <algorithm>

namespace tandem::constraint {
namespace {

constexpr std::size_t kMaxCells = 600'000;
constexpr std::size_t kMaxStates = 200'000;
constexpr std::size_t kMaxStateCells = 1'000'000;
constexpr std::size_t kMaxClosure = 20'000;   // cells met for one state
constexpr std::size_t kMaxSteps = 1'000'000;  // kept; more are worked out anew

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 29);
}

std::uint64_t hashOf(const Element& e, int next) {
  std::uint64_t hash = mix(0, static_cast<std::uint32_t>(e.node));
  for (const int value : {e.state, e.min, e.max, next})
    hash = mix(hash, static_cast<std::uint32_t>(value));
  return hash;
}

}  // namespace

Machine::Machine(std::shared_ptr<const Program> program) : program_(std::move(program)) {
  cells_.push_back({{}, kNoCell, 0, 0});
  expanded_.push_back(0);
  seen_.emplace_back();
  seenNumbers_.emplace(seen_.front(), 0);
  const int first = cellBefore(program_->grammar().root, kEnd);
  if (first != kNoCell) start_ = closure({first});
}

std::span<const int> Machine::cellsOf(int state) const {
  const State& s = states_[static_cast<std::size_t>(state)];
  return std::span(stateCells_).subspan(s.begin, s.count);
}

void Machine::fail(const char* what) {
  if (!status_.ok()) return;
  status_ = Error{ErrorCode::kBudgetExceeded,
                  std::string("Following the constraint takes too many ") + what + "; make it simpler."};
}

int Machine::cellAt(const Element& element, int next) {
  const std::uint32_t need = addNeeds(elementNeed(element), cell(next).need);
  if (need == Grammar::kNever) return kNoCell;
  const std::uint64_t hash = hashOf(element, next);
  const auto [begin, end] = cellsByHash_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    const Cell& known = cell(at->second);
    if (known.next == next && known.element == element) return at->second;
  }
  if (cells_.size() >= kMaxCells) {
    fail("places");
    return kNoCell;
  }
  cells_.push_back({element, next, need, elementDetours(element) + cell(next).detours});
  expanded_.push_back(0);
  const int number = static_cast<int>(cells_.size()) - 1;
  cellsByHash_.emplace(hash, number);
  return number;
}

int Machine::stateOf(std::vector<int> cells) {
  if (cells.empty() || !status_.ok()) return kDead;
  std::sort(cells.begin(), cells.end());
  std::uint64_t hash = 0;
  std::uint32_t need = Grammar::kNever;
  for (const int at : cells) {
    hash = mix(hash, static_cast<std::uint64_t>(at));
    need = std::min(need, cell(at).need);
  }
  const auto [begin, end] = statesByHash_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    const std::span<const int> known = cellsOf(at->second);
    if (std::equal(known.begin(), known.end(), cells.begin(), cells.end())) return at->second;
  }
  if (states_.size() >= kMaxStates || stateCells_.size() + cells.size() > kMaxStateCells) {
    fail("states");
    return kDead;
  }
  states_.push_back(
      {static_cast<std::uint32_t>(stateCells_.size()), static_cast<std::uint32_t>(cells.size()), need});
  stateCells_.insert(stateCells_.end(), cells.begin(), cells.end());
  const int number = static_cast<int>(states_.size()) - 1;
  statesByHash_.emplace(hash, number);
  return number;
}

// The state of all places that the cells lead to without a byte.
int Machine::closure(const std::vector<int>& cells) {
  ++closures_;
  std::vector<int> work = cells, places;
  std::size_t met = 0;
  while (!work.empty()) {
    const int at = work.back();
    work.pop_back();
    if (at == kNoCell || expanded_[static_cast<std::size_t>(at)] == closures_) continue;
    expanded_[static_cast<std::size_t>(at)] = closures_;
    if (++met > kMaxClosure) {
      fail("places at once");
      return kDead;
    }
    expand(at, work, places);
  }
  return stateOf(std::move(places));
}

// Replaces a cell by those that it stands for: a place is where a byte is taken, or the end.
void Machine::expand(int at, std::vector<int>& work, std::vector<int>& places) {
  const Cell from = cell(at);  // cells_ may grow
  if (at == kEnd) {
    places.push_back(at);
    return;
  }
  const Grammar& grammar = program_->grammar();
  const Node& node = nodeOf(from);
  switch (node.kind) {
    case Node::Kind::kLiteral:
    case Node::Kind::kDfa:
    case Node::Kind::kString:
      if (program_->mayLeave(from.element)) work.push_back(from.next);
      if (program_->mayStay(from.element)) places.push_back(at);
      return;
    case Node::Kind::kEmpty:
      work.push_back(from.next);
      return;
    case Node::Kind::kNever:
      return;
    case Node::Kind::kSequence: {
      int next = from.next;
      for (std::uint32_t i = node.count; i > 0 && next != kNoCell; --i)
        next = cellBefore(grammar.child(node, i - 1), next);
      work.push_back(next);
      return;
    }
    case Node::Kind::kChoice:
      for (std::uint32_t i = 0; i < node.count; ++i)
        work.push_back(cellBefore(grammar.child(node, i), from.next));
      return;
    case Node::Kind::kRepeat: {
      Element rest = from.element;
      if (rest.min == 0) work.push_back(from.next);
      if (rest.max == 0) return;
      rest.min = std::max(rest.min - 1, 0);
      rest.max = rest.max == -1 ? -1 : rest.max - 1;
      const int next = rest.max == 0 ? from.next : cellAt(rest, from.next);
      if (next != kNoCell) work.push_back(cellBefore(grammar.child(node, 0), next));
      return;
    }
    case Node::Kind::kRule:
      work.push_back(cellBefore(grammar.rules[static_cast<std::size_t>(node.index)], from.next));
      return;
    case Node::Kind::kObject:
      expandObject(at, work);
      return;
  }
}

int Machine::advance(int state, std::uint8_t byte) {
  if (state == kDead || !status_.ok()) return kDead;
  const std::uint64_t key = static_cast<std::uint64_t>(state) * 256 + byte;
  const auto known = steps_.find(key);
  if (known != steps_.end()) return known->second;
  std::vector<int> behind;
  const std::uint32_t begin = states_[static_cast<std::size_t>(state)].begin;
  const std::uint32_t count = states_[static_cast<std::size_t>(state)].count;
  for (std::uint32_t i = 0; i < count; ++i) {
    const int at = stateCells_[begin + i];
    if (at == kEnd) continue;
    Element element = cell(at).element;
    if (program_->step(element, byte)) behind.push_back(cellAt(element, cell(at).next));
  }
  const int to = behind.empty() ? kDead : closure(behind);
  if (steps_.size() >= kMaxSteps) steps_.clear();
  if (status_.ok()) steps_.emplace(key, to);
  return to;
}

int Machine::advanceToken(int state, TokenId token) {
  const std::string_view bytes = program_->trie().bytesOf(token);
  if (bytes.empty()) return kDead;
  for (const char byte : bytes)
    state = advance(state, static_cast<std::uint8_t>(byte));
  return state;
}

bool Machine::mayEnd(int state) const {
  return cellsOf(state).front() == kEnd;
}

}  // namespace tandem::constraint
