#include "engine/constraint/program.h"

#include <algorithm>
#include <cassert>

namespace tandem::constraint {
namespace {

constexpr std::size_t kMaxKeptBytes = std::size_t{64} << 20;

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

void Program::Group::addTo(TokenMask& out) const {
  for (const TokenId token : few)
    out.add(token);
  if (many.size() != 0) out.addAll(many);
}

bool Program::isInsideCharacter(int stringState) const {
  const CountedString& string = grammar_.countedString;
  return stringState != string.dfa.start && stringState != string.boundary && stringState != string.end;
}

std::optional<Element> Program::behind(const Element& element, int state, int characters) const {
  if (grammar_.node(element.node).kind == Node::Kind::kDfa) return Element{element.node, state};
  const int unfinished = isInsideCharacter(element.state) ? 1 : 0;
  const int begun = characters - unfinished + (isInsideCharacter(state) ? 1 : 0);
  if (element.max >= 0 && begun > 0 && begun + unfinished > element.max) return std::nullopt;
  if (state == grammar_.countedString.end && characters < element.min) return std::nullopt;
  return Element{element.node, state, std::max(element.min - characters, 0),
                 element.max == -1 ? -1 : element.max - characters};
}

bool Program::allows(const Element& element, const Exit& exit) const {
  return grammar_.node(element.node).kind == Node::Kind::kDfa ||
         behind(element, grammar_.countedString.end, exit.characters).has_value();
}

// The automaton is walked without counts; behind() and allows() heed them.
std::shared_ptr<const Program::Inside> Program::findInside(const Element& element) const {
  const Node& node = grammar_.node(element.node);
  const CountedString& string = grammar_.countedString;
  const bool isString = node.kind == Node::Kind::kString;
  const ByteDfa& dfa = isString ? string.dfa : grammar_.dfas[static_cast<std::size_t>(node.index)];
  struct Place {
    int state, characters;
  };
  const auto step = [&](const Place& at, std::uint8_t byte, Place& next) {
    next.state = dfa.after(at.state, byte);
    if (next.state == ByteDfa::kDead) return false;
    const bool completes = isString && next.state == string.boundary && at.state != dfa.start;
    next.characters = at.characters + (completes ? 1 : 0);
    return true;
  };
  auto out = std::make_shared<Inside>();
  std::vector<std::vector<TokenId>> tokens;
  const std::size_t counts = isString ? static_cast<std::size_t>(trie_->longest()) + 1 : 1;
  std::vector<int> groups(dfa.accepts.size() * counts, -1);  // by state and characters
  trie_->walk(TokenTrie::kRoot, Place{element.state, 0}, step, [&](std::uint32_t at, const Place& place) {
    if (const auto found = trie_->tokens(at); !found.empty()) {
      int& group =
          groups[static_cast<std::size_t>(place.state) * counts + static_cast<std::size_t>(place.characters)];
      if (group < 0) {
        group = static_cast<int>(tokens.size());
        tokens.emplace_back();
        out->groups.push_back({.state = place.state, .characters = place.characters});
      }
      std::vector<TokenId>& into = tokens[static_cast<std::size_t>(group)];
      into.insert(into.end(), found.begin(), found.end());
    }
    const bool left =
        isString ? place.state == string.end : dfa.accepts[static_cast<std::size_t>(place.state)] != 0;
    if (left && trie_->hasChildren(at)) out->exits.push_back({at, place.characters});
  });
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    Group& group = out->groups[i];
    out->tokens += tokens[i].size();
    if (tokens[i].size() < trie_->vocabSize() / 64) {
      group.few = std::move(tokens[i]);
      group.few.shrink_to_fit();
    } else {
      group.many = TokenMask(trie_->vocabSize());
      for (const TokenId token : tokens[i])
        group.many.add(token);
    }
  }
  return out;
}

Element Program::alike(const Element& element) const {
  const Node& node = grammar_.node(element.node);
  if (node.kind != Node::Kind::kDfa) return element;
  const std::lock_guard lock(mutex_);
  auto found = alike_.find(node.index);
  if (found == alike_.end()) {
    const ByteDfa& dfa = grammar_.dfas[static_cast<std::size_t>(node.index)];
    found = alike_.emplace(node.index, statesAlike(dfa, trie_->longest())).first;
  }
  return {element.node, found->second[static_cast<std::size_t>(element.state)]};
}

std::shared_ptr<const Program::Inside> Program::inside(const Element& element) const {
  const bool isString = grammar_.node(element.node).kind == Node::Kind::kString;
  const std::pair<int, int> key{isString ? -1 : element.node,
                                element.state};  // strings differ in counts only
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(key);
  if (found != kept_.end()) return found->second;
  std::shared_ptr<const Inside> made = findInside(element);
  std::size_t bytes = made->exits.size() * sizeof(Exit);
  for (const Group& group : made->groups)
    bytes += sizeof(Group) + group.few.size() * sizeof(TokenId) + group.many.words().size_bytes();
  if (keptBytes_ + bytes > kMaxKeptBytes) {
    kept_.clear();
    keptBytes_ = 0;
  }
  keptBytes_ += bytes;
  kept_.emplace(key, made);
  return made;
}

}  // namespace tandem::constraint
