// Puts a Grammar together, node by node, and checks it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/constraint/grammar.h"

namespace tandem::constraint {

class GrammarBuilder {
 public:
  explicit GrammarBuilder(const ByteAlphabet& alphabet);

  Budget& budget() { return budget_; }
  const ByteAlphabet& alphabet() const { return grammar_.alphabet; }

  int empty() { return empty_; }
  int never() { return never_; }
  int literal(std::string_view text);
  int dfa(ByteDfa dfa);
  // A JSON string of min to max characters, both inclusive; max -1: without limit.
  int string(int min, int max);
  int sequence(std::vector<int> children);
  int choice(std::vector<int> children);
  int optional(int child) { return choice({child, empty_}); }
  // REQUIRES: 0 <= min, min <= max or max == -1
  int repeat(int child, int min, int max);
  int object(ObjectRule object);
  // White space that JSON allows between its parts.
  int whiteSpace() { return grammar_.whiteSpace; }

  // A rule may be called before it is defined.
  int newRule();
  int call(int rule);
  void define(int rule, int node) { grammar_.rules[static_cast<std::size_t>(rule)] = node; }

  // The fewest bytes that a rule matches, or Grammar::kNever. REQUIRES: every rule is defined
  std::uint32_t needOf(int rule);

  // Refuses a grammar that calls a rule before it has taken a byte of it, that no text meets, or whose
  // shortest text is too long. REQUIRES: every rule is defined
  Grammar finish(int root);

 private:
  int add(Node node, const std::vector<int>& children = {});
  void computeNeeds();
  void refuseLeftRecursion();
  std::uint32_t computeNeed(const Node& node) const;
  std::uint32_t objectNeed(const ObjectRule& object) const;

  Budget budget_;
  Grammar grammar_;
  int empty_ = 0;
  int never_ = 0;
};

}  // namespace tandem::constraint
