// Walks texts along a grammar, byte by byte.
//
// A cell is a place in the grammar with what follows it: a stack whose upper part may be shared by many. A
// state is the set of cells that a text may stand at; equal sets are one state, named by a number. What a
// byte does to a state is worked out once. One machine serves one request: states are made as its text needs
// them, and it is used by one thread at a time.
#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/base/status.h"
#include "engine/constraint/program.h"

namespace tandem::constraint {

class Machine {
 public:
  static constexpr int kDead = -1;  // no text goes on from here

  explicit Machine(std::shared_ptr<const Program> program);

  int start() const { return start_; }
  // The state behind a byte, or kDead.
  int advance(int state, std::uint8_t byte);
  // The state behind the bytes of a token; kDead for one that may not stand in the text.
  int advanceToken(int state, TokenId token);
  // Whether the text may end here.
  bool mayEnd(int state) const;
  // The fewest available bytes to an end.
  std::uint32_t need(int state) const { return states_[static_cast<std::size_t>(state)].need; }

  // The tokens that may follow, end tokens where the text may end. Valid until the next call.
  const TokenMask& mask(int state);
  // Those of them behind which `tokensLeft - 1` tokens are enough to end.
  const TokenMask& mask(int state, int tokensLeft);
  // Whether a text that goes on from `state` can end within so many tokens, the end token counted.
  bool endsWithin(int state, int tokens);
  // The fewest tokens of a shortest text to an end, the end token counted.
  int tokensToEnd(int state);

  // kBudgetExceeded once the text has needed more states than a machine may have; every state is a dead one
  // then.
  const Status& status() const { return status_; }

 private:
  struct Cell {
    Element element;
    int next;               // the cell that follows; kEnd is the end of the text
    std::uint32_t need;     // the fewest available bytes to the end of the text
    std::uint32_t detours;  // how far the properties in objects that it stands in are out of order
  };
  struct State {
    std::uint32_t begin;  // of its cells in stateCells_
    std::uint32_t count;
    std::uint32_t need;
    int tokensToEnd = 0;  // 0: not known yet
  };
  struct StateMask {
    TokenMask mask;
    std::uint32_t need = 0;  // behind none of its tokens more bytes are needed than this
  };
  static constexpr int kEnd = 0;      // the cell behind the last
  static constexpr int kNoCell = -1;  // cannot be met

  std::span<const int> cellsOf(int state) const;
  const Cell& cell(int at) const { return cells_[static_cast<std::size_t>(at)]; }
  const Node& nodeOf(const Cell& cell) const { return program_->grammar().node(cell.element.node); }

  // machine.cpp
  int cellAt(const Element& element, int next);
  int cellBefore(int node, int next) { return cellAt(program_->begin(node), next); }
  int stateOf(std::vector<int> cells);
  int closure(const std::vector<int>& cells);
  void expand(int at, std::vector<int>& work, std::vector<int>& places);
  void fail(const char* what);

  // machine_objects.cpp
  void expandObject(int at, std::vector<int>& work);
  void pushKeys(const Cell& from, const ObjectRule& object, std::vector<int>& work);
  void pushValue(const Cell& from, const ObjectRule& object, std::vector<int>& work);
  int seenWith(int seen, std::size_t property);
  bool isSeen(int seen, std::size_t property) const;
  std::uint32_t objectNeed(const Element& element, const ObjectRule& object) const;
  bool isWritten(const Element& element, std::size_t property) const;
  std::uint32_t elementNeed(const Element& element) const;
  std::uint32_t elementDetours(const Element& element) const;

  // machine_masks.cpp
  const StateMask& stateMask(int state);
  int cellWithMostTokens(std::span<const int> cells) const;
  void addGroupsWithin(int at, int tokensLeft, std::vector<std::uint32_t>& candidates);
  void addInside(Cell from, StateMask& out);
  template <class Visit>
  void visitBelow(int state, std::uint32_t from, const Visit& visit);
  void collectBelow(int state, std::uint32_t node, std::vector<std::uint32_t>& nodes);
  void addBelow(int state, std::uint32_t node, StateMask& out);
  std::bitset<256> shortestBytes(int state);
  std::vector<int> shortestSuccessors(int state);

  const std::shared_ptr<const Program> program_;
  std::vector<Cell> cells_;
  std::unordered_multimap<std::uint64_t, int> cellsByHash_;
  std::vector<State> states_;
  std::vector<int> stateCells_;
  std::unordered_multimap<std::uint64_t, int> statesByHash_;
  std::unordered_map<std::uint64_t, int> steps_;  // state * 256 + byte to the state behind
  std::vector<std::vector<std::uint64_t>> seen_;  // sets of properties, a bit each
  std::map<std::vector<std::uint64_t>, int> seenNumbers_;
  std::vector<unsigned> expanded_;  // (cells): the closure that last met the cell
  unsigned closures_ = 0;
  std::unordered_map<int, StateMask> masks_;
  TokenMask limited_;
  int start_ = kDead;
  Status status_;
};

}  // namespace tandem::constraint
