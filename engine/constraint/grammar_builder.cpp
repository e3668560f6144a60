#include "engine/constraint/grammar_builder.h"

#include <algorithm>

#include "engine/constraint/regex_parser.h"

namespace tandem::constraint {

GrammarBuilder::GrammarBuilder(const ByteAlphabet& alphabet) {
  grammar_.alphabet = alphabet;
  empty_ = add({Node::Kind::kEmpty});
  never_ = add({Node::Kind::kNever});
  grammar_.countedString = countedJsonString(alphabet, budget_);
  ExpressionPool pool;
  // A space, or a new line with its indentation: as much as people and serialisers write, and no more,
  // because a model that may write white space without end sometimes does.
  const int space = parseRegex("(?: |\\r?\\n[ \\t]{0,60})?", "", pool);
  grammar_.whiteSpace = dfa(plainText(buildCharDfa(pool, space, Match::kWhole, budget_), alphabet, budget_));
  grammar_.comma = literal(",");
  grammar_.closingBrace = literal("}");
}

int GrammarBuilder::add(Node node, const std::vector<int>& children) {
  if (grammar_.nodes.size() + grammar_.children.size() >= kMaxGrammarNodes)
    Budget::overrun("It has too many parts");
  budget_.spend(1 + children.size());
  node.begin = static_cast<std::uint32_t>(grammar_.children.size());
  node.count = static_cast<std::uint32_t>(children.size());
  grammar_.children.insert(grammar_.children.end(), children.begin(), children.end());
  grammar_.nodes.push_back(node);
  return static_cast<int>(grammar_.nodes.size()) - 1;
}

int GrammarBuilder::literal(std::string_view text) {
  if (text.empty()) return empty_;
  budget_.spend(text.size());
  grammar_.texts.emplace_back(text);
  return add({Node::Kind::kLiteral, static_cast<int>(grammar_.texts.size()) - 1});
}

int GrammarBuilder::dfa(ByteDfa dfa) {
  if (dfa.start == ByteDfa::kDead) return never_;
  grammar_.dfas.push_back(std::move(dfa));
  return add({Node::Kind::kDfa, static_cast<int>(grammar_.dfas.size()) - 1});
}

int GrammarBuilder::string(int min, int max) {
  if (grammar_.countedString.dfa.start == ByteDfa::kDead || (max != -1 && max < min)) return never_;
  return add({Node::Kind::kString, 0, min, max});
}

int GrammarBuilder::sequence(std::vector<int> children) {
  std::erase(children, empty_);
  if (children.empty()) return empty_;
  if (children.size() == 1) return children.front();
  return add({Node::Kind::kSequence}, children);
}

int GrammarBuilder::choice(std::vector<int> children) {
  std::erase(children, never_);
  if (children.empty()) return never_;
  if (children.size() == 1) return children.front();
  return add({Node::Kind::kChoice}, children);
}

int GrammarBuilder::repeat(int child, int min, int max) {
  if (max == 0) return empty_;
  if (min == 1 && max == 1) return child;
  return add({Node::Kind::kRepeat, 0, min, max}, {child});
}

int GrammarBuilder::object(ObjectRule object) {
  grammar_.objects.push_back(std::move(object));
  return add({Node::Kind::kObject, static_cast<int>(grammar_.objects.size()) - 1});
}

int GrammarBuilder::newRule() {
  grammar_.rules.push_back(never_);
  budget_.spend(1);
  return static_cast<int>(grammar_.rules.size()) - 1;
}

int GrammarBuilder::call(int rule) {
  return add({Node::Kind::kRule, rule});
}

std::uint32_t GrammarBuilder::objectNeed(const ObjectRule& object) const {
  std::uint32_t total = 1;  // the closing brace
  int written = 0;
  std::vector<std::uint32_t> optional;
  for (const ObjectRule::Property& property : object.properties) {
    const std::uint32_t need = grammar_.needOf(property);
    if (!property.required) {
      optional.push_back(need);
      continue;
    }
    total = addNeeds(total, need);
    ++written;
  }
  std::uint32_t other = Grammar::kNever;
  for (const ObjectRule::Property& property : object.others)
    other = std::min(other, grammar_.needOf(property));
  optional.push_back(other);
  std::sort(optional.begin(), optional.end());
  for (std::size_t i = 0; written < object.min; ++i, ++written)
    total = addNeeds(total, i < optional.size() ? optional[i] : Grammar::kNever);
  if (object.max != -1 && written > object.max) return Grammar::kNever;
  return addNeeds(total, static_cast<std::uint32_t>(std::max(written - 1, 0)));
}

std::uint32_t GrammarBuilder::computeNeed(const Node& node) const {
  const auto needOfChild = [&](std::uint32_t i) {
    return grammar_.need[static_cast<std::size_t>(grammar_.child(node, i))];
  };
  switch (node.kind) {
    case Node::Kind::kEmpty:
      return 0;
    case Node::Kind::kNever:
      return Grammar::kNever;
    case Node::Kind::kLiteral: {
      const std::string& text = grammar_.texts[static_cast<std::size_t>(node.index)];
      const bool writable = std::all_of(text.begin(), text.end(), [&](char c) {
        return grammar_.alphabet.bytes[static_cast<unsigned char>(c)];
      });
      return writable ? addNeeds(0, text.size()) : Grammar::kNever;
    }
    case Node::Kind::kDfa: {
      const ByteDfa& dfa = grammar_.dfas[static_cast<std::size_t>(node.index)];
      return static_cast<std::uint32_t>(dfa.distance[static_cast<std::size_t>(dfa.start)]);
    }
    case Node::Kind::kString:
      return addNeeds(2, static_cast<std::uint64_t>(node.min));
    case Node::Kind::kSequence: {
      std::uint32_t total = 0;
      for (std::uint32_t i = 0; i < node.count; ++i)
        total = addNeeds(total, needOfChild(i));
      return total;
    }
    case Node::Kind::kChoice: {
      std::uint32_t least = Grammar::kNever;
      for (std::uint32_t i = 0; i < node.count; ++i)
        least = std::min(least, needOfChild(i));
      return least;
    }
    case Node::Kind::kRepeat:
      return node.min == 0 ? 0 : addNeeds(0, static_cast<std::uint64_t>(node.min) * needOfChild(0));
    case Node::Kind::kRule: {
      const int target = grammar_.rules[static_cast<std::size_t>(node.index)];
      return grammar_.need[static_cast<std::size_t>(target)];
    }
    case Node::Kind::kObject:
      return objectNeed(grammar_.objects[static_cast<std::size_t>(node.index)]);
  }
  return Grammar::kNever;
}

// Needs only ever fall, from kNever on, until nothing changes: the least solution.
void GrammarBuilder::computeNeeds() {
  grammar_.need.assign(grammar_.nodes.size(), Grammar::kNever);
  bool upwards = true;
  for (bool changed = true; changed;) {
    changed = false;
    budget_.spend(grammar_.nodes.size() + grammar_.children.size());
    for (std::size_t i = 0; i < grammar_.nodes.size(); ++i) {
      const std::size_t at = upwards ? i : grammar_.nodes.size() - 1 - i;
      const std::uint32_t need = computeNeed(grammar_.nodes[at]);
      changed = changed || need != grammar_.need[at];
      grammar_.need[at] = need;
    }
    upwards = !upwards;  // children mostly stand before their parents, rules mostly behind their callers
  }
}

// Depth first along what a node may begin with, before a byte is taken.
void GrammarBuilder::refuseLeftRecursion() {
  enum : std::uint8_t { kNew, kOpen, kDone };
  std::vector<std::uint8_t> seen(grammar_.nodes.size(), kNew);
  struct Frame {
    int node;
    std::uint32_t child;
  };
  std::vector<Frame> path;
  const auto enter = [&](int node) {
    std::uint8_t& mark = seen[static_cast<std::size_t>(node)];
    if (mark == kOpen)
      refuse("A rule calls itself before it has taken a character (left recursion); write it as a repeat.");
    if (mark == kNew) {
      mark = kOpen;
      path.push_back({node, 0});
    }
  };
  for (int root = 0; root < static_cast<int>(grammar_.nodes.size()); ++root) {
    enter(root);
    while (!path.empty()) {
      Frame& at = path.back();
      const Node& node = grammar_.node(at.node);
      const bool isRule = node.kind == Node::Kind::kRule;
      const std::uint32_t i = at.child++;
      const bool behindText = node.kind == Node::Kind::kSequence && i > 0 && i < node.count &&
                              grammar_.need[static_cast<std::size_t>(grammar_.child(node, i - 1))] != 0;
      if (i >= (isRule ? 1 : node.count) || behindText) {
        seen[static_cast<std::size_t>(at.node)] = kDone;
        path.pop_back();
      } else {
        enter(isRule ? grammar_.rules[static_cast<std::size_t>(node.index)] : grammar_.child(node, i));
      }
    }
  }
}

std::uint32_t GrammarBuilder::needOf(int rule) {
  if (grammar_.need.size() != grammar_.nodes.size()) computeNeeds();
  return grammar_.need[static_cast<std::size_t>(grammar_.rules[static_cast<std::size_t>(rule)])];
}

Grammar GrammarBuilder::finish(int root) {
  grammar_.root = root;
  computeNeeds();
  refuseLeftRecursion();
  const std::uint32_t need = grammar_.need[static_cast<std::size_t>(root)];
  if (need == Grammar::kNever)
    refuse("This cannot be met: no text that the vocabulary can write satisfies it.");
  if (need > kMaxShortestBytes)
    Budget::overrun("The shortest text that it allows has " + std::to_string(need) + " bytes");
  return std::move(grammar_);
}

}  // namespace tandem::constraint
