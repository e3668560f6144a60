// A compiled constraint: a graph of nodes that a stack of continuations is walked along (machine.h).
//
// What is regular in a constraint is a byte automaton, one node; around these stand sequences, choices,
// repeats, rules that may call themselves, and objects, whose properties come in any order. Rules give it
// recursion. Put together by GrammarBuilder; immutable afterwards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/constraint/byte_dfa.h"
#include "engine/constraint/failure.h"

namespace tandem::constraint {

struct Node {
  enum class Kind : std::uint8_t {
    kEmpty,
    kNever,     // matches nothing
    kLiteral,   // texts[index]
    kDfa,       // dfas[index]
    kString,    // a JSON string of min to max characters, by countedString
    kSequence,  // children
    kChoice,    // children
    kRepeat,    // children[0], min to max times
    kRule,      // rules[index]
    kObject,    // objects[index]: what follows an opening brace
  };
  Kind kind = Kind::kEmpty;
  int index = 0;
  int min = 0;
  int max = 0;              // -1: without limit
  std::uint32_t begin = 0;  // of its children in Grammar::children
  std::uint32_t count = 0;
};

// A JSON object.
struct ObjectRule {
  struct Property {
    int key;    // nodes: the key,
    int value;  // and the colon with the value
    bool required = false;
  };
  std::vector<Property> properties = {};  // each at most once, in any order
  std::vector<Property> others = {};      // as often as wanted; their keys are none of the above
  int min = 0;                            // of properties written; at most one of `others` counts
  int max = -1;                           // -1: without limit
};

// A need that cannot be met. Sums stay at it.
inline constexpr std::uint32_t kNeverNeed = 0x3FFFFFFF;
inline std::uint32_t addNeeds(std::uint64_t a, std::uint64_t b) {
  return a + b < kNeverNeed ? static_cast<std::uint32_t>(a + b) : kNeverNeed;
}

struct Grammar {
  static constexpr std::uint32_t kNever = kNeverNeed;

  std::vector<Node> nodes;
  std::vector<int> children;
  std::vector<std::string> texts;
  std::vector<ByteDfa> dfas;
  CountedString countedString;
  std::vector<int> rules;  // rule to node
  std::vector<ObjectRule> objects;
  int root = 0;
  int whiteSpace = 0;  // nodes that objects use
  int comma = 0;
  int closingBrace = 0;
  ByteAlphabet alphabet;
  std::vector<std::uint32_t> need;  // (nodes): the fewest available bytes that a node matches, or kNever

  const Node& node(int at) const { return nodes[static_cast<std::size_t>(at)]; }
  std::uint32_t needOf(const ObjectRule::Property& property) const {
    return addNeeds(need[static_cast<std::size_t>(property.key)],
                    need[static_cast<std::size_t>(property.value)]);
  }
  int child(const Node& node, std::uint32_t i) const { return children[node.begin + i]; }
};

}  // namespace tandem::constraint
