// The machine's objects: which properties were written decides which may follow.
#include <algorithm>
#include <bit>

#include "engine/constraint/machine.h"

namespace tandem::constraint {
namespace {

// Element::min of an object.
enum Phase : int {
  kOpen,   // behind the opening brace
  kFirst,  // behind the white space there: a key or the closing brace
  kAfter,  // behind a property
  kMore,   // behind the white space there: a comma or the closing brace
  kKey,    // behind the comma: a key
  kValue,  // and above: behind the key of property number phase - kValue, the others counted behind the
           // properties
};

int countOf(const std::vector<std::uint64_t>& seen) {
  int count = 0;
  for (const std::uint64_t word : seen)
    count += std::popcount(word);
  return count;
}

}  // namespace

bool Machine::isSeen(int seen, std::size_t property) const {
  const std::vector<std::uint64_t>& set = seen_[static_cast<std::size_t>(seen)];
  return property / 64 < set.size() && (set[property / 64] >> (property % 64) & 1) != 0;
}

int Machine::seenWith(int seen, std::size_t property) {
  std::vector<std::uint64_t> set = seen_[static_cast<std::size_t>(seen)];
  if (set.size() <= property / 64) set.resize(property / 64 + 1);
  set[property / 64] |= std::uint64_t{1} << (property % 64);
  const auto [at, isNew] = seenNumbers_.try_emplace(set, static_cast<int>(seen_.size()));
  if (isNew) seen_.push_back(std::move(set));
  return at->second;
}

std::uint32_t Machine::elementNeed(const Element& element) const {
  const Node& node = program_->grammar().node(element.node);
  if (node.kind != Node::Kind::kObject) return program_->need(element);
  return objectNeed(element, program_->grammar().objects[static_cast<std::size_t>(node.index)]);
}

// Whether a property was written, its key at least.
bool Machine::isWritten(const Element& element, std::size_t property) const {
  return isSeen(element.state, property) || element.min == kValue + static_cast<int>(property);
}

// The fewest bytes to the closing brace: of the properties that are required and not written, of the cheapest
// others where more must come, and of what stands between them.
std::uint32_t Machine::objectNeed(const Element& element, const ObjectRule& object) const {
  const Grammar& grammar = program_->grammar();
  const std::size_t own = object.properties.size();
  std::uint32_t total = 1, cheapestOther = Grammar::kNever;
  int missing = 0;
  std::vector<std::uint32_t> optional;
  for (std::size_t i = 0; i < own; ++i) {
    if (isWritten(element, i)) continue;
    const std::uint32_t need = grammar.needOf(object.properties[i]);
    if (object.properties[i].required) {
      total = addNeeds(total, need);
      ++missing;
    } else {
      optional.push_back(need);
    }
  }
  for (const ObjectRule::Property& other : object.others)
    cheapestOther = std::min(cheapestOther, grammar.needOf(other));
  // Of the others one counts: its bit is behind those of the properties.
  const bool inOther = element.min >= kValue + static_cast<int>(own);
  const bool otherCounts = object.min > 0 && !isSeen(element.state, own);
  const int seen = countOf(seen_[static_cast<std::size_t>(element.state)]);
  const int writing = element.min >= kValue ? 1 : 0;
  const int counted = seen + (inOther && !otherCounts ? 0 : writing);
  int lacking = std::max(object.min - counted - missing, 0);
  if (lacking == 0 && missing == 0 && element.min == kKey) {
    lacking = 1;
    optional.push_back(cheapestOther);
  } else if (otherCounts && !inOther) {
    optional.push_back(cheapestOther);
  }
  if (lacking > 0) std::sort(optional.begin(), optional.end());
  for (int i = 0; i < lacking; ++i)
    total =
        addNeeds(total, static_cast<std::size_t>(i) < optional.size() ? optional[static_cast<std::size_t>(i)]
                                                                      : Grammar::kNever);
  const int toWrite = missing + lacking;
  if (object.max != -1 && seen + writing + element.max + toWrite > object.max) return Grammar::kNever;
  if (element.min >= kValue) {
    const auto at = static_cast<std::size_t>(element.min - kValue);
    const ObjectRule::Property& property = at < own ? object.properties[at] : object.others[at - own];
    total = addNeeds(total, grammar.need[static_cast<std::size_t>(property.value)]);
  }
  const bool commaFirst = element.min == kAfter || element.min == kMore || element.min >= kValue;
  return addNeeds(total, static_cast<std::uint64_t>(std::max(toWrite - (commaFirst ? 0 : 1), 0)));
}

// Pairs of a required property that is missing and one behind it that was written. The shortest texts differ
// in the order of their properties; those without detours have one order.
std::uint32_t Machine::elementDetours(const Element& element) const {
  const Node& node = program_->grammar().node(element.node);
  if (node.kind != Node::Kind::kObject) return 0;
  const ObjectRule& object = program_->grammar().objects[static_cast<std::size_t>(node.index)];
  std::uint32_t detours = 0, written = 0;
  for (std::size_t i = object.properties.size(); i > 0; --i) {
    if (isWritten(element, i - 1)) {
      ++written;
    } else if (object.properties[i - 1].required) {
      detours += written;
    }
  }
  return detours;
}

void Machine::expandObject(int at, std::vector<int>& work) {
  const Cell from = cell(at);
  const Grammar& grammar = program_->grammar();
  const ObjectRule& object = grammar.objects[static_cast<std::size_t>(nodeOf(from).index)];
  Element element = from.element;
  const auto behindSpace = [&](Phase phase) {
    element.min = phase;
    const int next = cellAt(element, from.next);
    return next == kNoCell ? kNoCell : cellBefore(grammar.whiteSpace, next);
  };
  switch (element.min) {
    case kOpen:
      work.push_back(behindSpace(kFirst));
      return;
    case kAfter:
      work.push_back(behindSpace(kMore));
      return;
    case kKey:
      pushKeys(from, object, work);
      return;
    case kFirst:
    case kMore:
      break;
    default:
      pushValue(from, object, work);
      return;
  }
  // The object may be closed when nothing but the brace is needed.
  if (from.need == addNeeds(cell(from.next).need, 1))
    work.push_back(cellBefore(grammar.closingBrace, from.next));
  if (element.min == kFirst) {
    pushKeys(from, object, work);
  } else {
    const int next = behindSpace(kKey);
    if (next != kNoCell) work.push_back(cellBefore(grammar.comma, next));
  }
}

void Machine::pushKeys(const Cell& from, const ObjectRule& object, std::vector<int>& work) {
  const std::size_t own = object.properties.size();
  for (std::size_t i = 0; i < own + object.others.size(); ++i) {
    if (i < own && isSeen(from.element.state, i)) continue;
    Element element = from.element;
    element.min = kValue + static_cast<int>(i);
    const int next = cellAt(element, from.next);
    if (next == kNoCell) continue;
    work.push_back(cellBefore(i < own ? object.properties[i].key : object.others[i - own].key, next));
  }
}

void Machine::pushValue(const Cell& from, const ObjectRule& object, std::vector<int>& work) {
  const std::size_t own = object.properties.size();
  const auto at = static_cast<std::size_t>(from.element.min - kValue);
  Element element = from.element;
  element.min = kAfter;
  if (at < own) {
    element.state = seenWith(element.state, at);
  } else if (object.min > 0 && !isSeen(element.state, own)) {
    element.state = seenWith(element.state, own);
  } else if (object.max != -1) {
    ++element.max;
  }
  const int next = cellAt(element, from.next);
  if (next != kNoCell)
    work.push_back(cellBefore(at < own ? object.properties[at].value : object.others[at - own].value, next));
}

}  // namespace tandem::constraint
