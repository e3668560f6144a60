// What a constraint is once it is compiled: the grammar, the vocabulary, and the tokens that each regular
// part allows, which are looked up once and kept.
//
// Immutable but for the kept tokens, which a mutex guards; any thread may use it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "engine/constraint/grammar.h"
#include "engine/constraint/token_mask.h"
#include "engine/constraint/token_trie.h"

namespace tandem::constraint {

// A place inside a node.
struct Element {
  int node = 0;
  int state =
      0;  // of a literal: bytes taken; of an automaton or string: its state; of an object: properties seen
  int min = 0;  // of a string or repeat: how often still, at least; of an object: its phase
  int max = 0;  // at most, -1 without limit; of an object: how many others were written

  auto operator<=>(const Element&) const = default;
};

class Program {
 public:
  Program(Grammar grammar, std::shared_ptr<const TokenTrie> trie)
      : grammar_(std::move(grammar)), trie_(std::move(trie)) {}

  const Grammar& grammar() const { return grammar_; }
  const TokenTrie& trie() const { return *trie_; }

  // Where a node begins.
  Element begin(int node) const;
  // Takes a byte inside a literal, automaton or string; false where it cannot follow.
  bool step(Element& element, std::uint8_t byte) const;
  // Whether a literal, automaton or string may be left here, and whether a byte of it may follow.
  bool mayLeave(const Element& element) const;
  bool mayStay(const Element& element) const;
  // The fewest available bytes to the end of a literal, automaton, string or repeat; of other nodes, from
  // their beginning.
  std::uint32_t need(const Element& element) const;
  // What is needed at most from any place of the element's automaton. REQUIRES: an automaton
  std::uint32_t mostNeed(const Element& element) const {
    const Node& node = grammar_.node(element.node);
    return static_cast<std::uint32_t>(grammar_.dfas[static_cast<std::size_t>(node.index)].farthest);
  }

  // The tokens that stay inside an automaton or string or end with it, when they start at one of its states
  // and whatever its counts are: those that lead to one place are a group. And the trie's nodes where it may
  // be left with more of a token to come.
  struct Group {
    int state = 0;                  // behind the tokens
    int characters = 0;             // of a string: that the tokens complete
    std::vector<TokenId> few = {};  // when they are few; else `many`
    TokenMask many = TokenMask();

    void addTo(TokenMask& out) const;
  };
  struct Exit {
    std::uint32_t node;
    int characters;
  };
  struct Inside {
    std::vector<Group> groups;
    std::vector<Exit> exits;
    std::size_t tokens = 0;  // of all groups
  };
  // REQUIRES: an automaton or a string
  std::shared_ptr<const Inside> inside(const Element& element) const;
  // The place, of an automaton, that the same tokens may follow and leave the automaton from, the same for
  // many: states that differ in how far they have counted. Other elements are themselves.
  Element alike(const Element& element) const;
  // Where the group's tokens lead from the element; none where its counts do not allow them.
  std::optional<Element> behind(const Element& element, const Group& group) const {
    return behind(element, group.state, group.characters);
  }
  // Whether the element may be left there.
  bool allows(const Element& element, const Exit& exit) const;

 private:
  bool stepString(const Node& node, Element& element, std::uint8_t byte) const;
  bool isInsideCharacter(int stringState) const;
  std::optional<Element> behind(const Element& element, int state, int characters) const;
  std::shared_ptr<const Inside> findInside(const Element& element) const;

  const Grammar grammar_;
  const std::shared_ptr<const TokenTrie> trie_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<int, int>, std::shared_ptr<const Inside>> kept_;  // by node and state
  mutable std::size_t keptBytes_ = 0;
  mutable std::map<int, std::vector<int>> alike_;  // by automaton, of its states
};

}  // namespace tandem::constraint
