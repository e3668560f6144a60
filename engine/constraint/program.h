// What a constraint is once it is compiled: the grammar, the vocabulary, and the tokens that each regular
// part allows, which are looked up once and kept.
//
// Immutable but for the kept tokens, which a mutex guards; any thread may use it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
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

  // The tokens that stay inside an element or end with it, and the trie's nodes where it may be left with
  // more of a token to come.
  struct Inside {
    std::vector<TokenId> few;  // when they are few; else `many`
    TokenMask many;
    std::vector<std::uint32_t> exits;
  };
  // REQUIRES: an automaton or a string
  std::shared_ptr<const Inside> inside(Element element) const;

 private:
  bool stepString(const Node& node, Element& element, std::uint8_t byte) const;
  std::shared_ptr<const Inside> findInside(const Element& element) const;

  const Grammar grammar_;
  const std::shared_ptr<const TokenTrie> trie_;
  mutable std::mutex mutex_;
  mutable std::map<Element, std::shared_ptr<const Inside>> kept_;
  mutable std::size_t keptBytes_ = 0;
};

}  // namespace tandem::constraint
