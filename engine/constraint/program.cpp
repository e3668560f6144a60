#include "engine/constraint/program.h"

#include <algorithm>
#include <cassert>

namespace tandem::constraint {
namespace {

constexpr std::size_t kMaxKeptBytes = std::size_t{32} << 20;

}  // namespace

Element Program::begin(int at) const {
  const Node& node = grammar_.node(at);
  switch (node.kind) {
    case Node::Kind::kDfa:
      return {at, grammar_.dfas[static_cast<std::size_t>(node.index)].start};
    case Node::Kind::kString:
      return {at, grammar_.countedString.dfa.start, node.min, node.max};
    case Node::Kind::kRepeat:
      return {at, 0, node.min, node.max};
    default:
      return {at};
  }
}

bool Program::stepString(const Node&, Element& element, std::uint8_t byte) const {
  const CountedString& string = grammar_.countedString;
  const int to = string.dfa.after(element.state, byte);
  if (to == ByteDfa::kDead) return false;
  if (to == string.end) {
    if (element.min > 0) return false;
  } else if (element.state == string.boundary && element.max == 0) {
    return false;  // a character too many begins
  }
  if (to == string.boundary && element.state != string.dfa.start) {
    element.min = std::max(element.min - 1, 0);
    element.max = element.max == -1 ? -1 : element.max - 1;
  }
  element.state = to;
  return true;
}

bool Program::step(Element& element, std::uint8_t byte) const {
  const Node& node = grammar_.node(element.node);
  switch (node.kind) {
    case Node::Kind::kLiteral: {
      const std::string& text = grammar_.texts[static_cast<std::size_t>(node.index)];
      const auto at = static_cast<std::size_t>(element.state);
      if (at >= text.size() || static_cast<std::uint8_t>(text[at]) != byte) return false;
      ++element.state;
      return true;
    }
    case Node::Kind::kDfa:
      element.state = grammar_.dfas[static_cast<std::size_t>(node.index)].after(element.state, byte);
      return element.state != ByteDfa::kDead;
    case Node::Kind::kString:
      return stepString(node, element, byte);
    default:
      return false;
  }
}

bool Program::mayLeave(const Element& element) const {
  const Node& node = grammar_.node(element.node);
  switch (node.kind) {
    case Node::Kind::kLiteral:
      return static_cast<std::size_t>(element.state) ==
             grammar_.texts[static_cast<std::size_t>(node.index)].size();
    case Node::Kind::kDfa:
      return grammar_.dfas[static_cast<std::size_t>(node.index)]
                 .accepts[static_cast<std::size_t>(element.state)] != 0;
    case Node::Kind::kString:
      return element.state == grammar_.countedString.end;
    default:
      return false;
  }
}

bool Program::mayStay(const Element& element) const {
  const Node& node = grammar_.node(element.node);
  if (node.kind == Node::Kind::kDfa)
    return grammar_.dfas[static_cast<std::size_t>(node.index)]
               .goesOn[static_cast<std::size_t>(element.state)] != 0;
  return !mayLeave(element);
}

std::uint32_t Program::need(const Element& element) const {
  const Node& node = grammar_.node(element.node);
  const std::uint32_t whole = grammar_.need[static_cast<std::size_t>(element.node)];
  const auto state = static_cast<std::size_t>(element.state);
  switch (node.kind) {
    case Node::Kind::kLiteral:
      return whole == Grammar::kNever ? whole : whole - static_cast<std::uint32_t>(element.state);
    case Node::Kind::kDfa:
      return static_cast<std::uint32_t>(grammar_.dfas[static_cast<std::size_t>(node.index)].distance[state]);
    case Node::Kind::kString: {
      const CountedString& string = grammar_.countedString;
      if (element.state == string.end) return 0;
      const bool inside = element.state != string.dfa.start && element.state != string.boundary;
      const int after = std::max(element.min - (inside ? 1 : 0), 0);  // characters behind the one begun
      return addNeeds(static_cast<std::uint64_t>(string.toBoundary[state]) + 1,
                      static_cast<std::uint64_t>(after));
    }
    case Node::Kind::kRepeat: {
      const std::uint32_t child = grammar_.need[static_cast<std::size_t>(grammar_.child(node, 0))];
      return element.min == 0 ? 0 : addNeeds(0, static_cast<std::uint64_t>(element.min) * child);
    }
    default:
      return whole;
  }
}

std::shared_ptr<const Program::Inside> Program::findInside(const Element& element) const {
  auto out = std::make_shared<Inside>();
  std::vector<TokenId> tokens;
  const auto step = [&](const Element& at, std::uint8_t byte, Element& next) {
    next = at;
    return this->step(next, byte);
  };
  trie_->walk(TokenTrie::kRoot, element, step, [&](std::uint32_t node, const Element& at) {
    for (const TokenId token : trie_->tokens(node))
      tokens.push_back(token);
    if (trie_->hasChildren(node) && mayLeave(at)) out->exits.push_back(node);
  });
  if (tokens.size() < trie_->vocabSize() / 64) {
    out->few = std::move(tokens);
  } else {
    out->many = TokenMask(trie_->vocabSize());
    for (const TokenId token : tokens)
      out->many.add(token);
  }
  return out;
}

std::shared_ptr<const Program::Inside> Program::inside(Element element) const {
  Element key = element;
  if (grammar_.node(element.node).kind == Node::Kind::kString) {
    // No token has more characters than bytes, so counts beyond that are all the same.
    const int longest = trie_->longest();
    element.min = std::min(element.min, longest + 1);
    if (element.max > longest) element.max = -1;
    key = element;
    key.node = -1;  // strings differ in their counts only
  }
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(key);
  if (found != kept_.end()) return found->second;
  std::shared_ptr<const Inside> made = findInside(element);
  const std::size_t bytes = made->few.size() * sizeof(TokenId) + made->many.words().size_bytes() +
                            made->exits.size() * sizeof(std::uint32_t);
  if (keptBytes_ + bytes > kMaxKeptBytes) {
    kept_.clear();
    keptBytes_ = 0;
  }
  keptBytes_ += bytes;
  kept_.emplace(key, made);
  return made;
}

}  // namespace tandem::constraint
