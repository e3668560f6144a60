#include "engine/tokenizer/jinja/value.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "engine/tokenizer/jinja/budget.h"
#include "engine/tokenizer/jinja/utf8.h"

namespace tandem::jinja {
namespace {

constexpr std::size_t kIndexFrom = 12;  // entries from which a dictionary keeps an index

std::uint64_t mix(std::uint64_t h) {
  h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9ULL;
  h = (h ^ (h >> 27)) * 0x94D049BB133111EBULL;
  return h ^ (h >> 31);
}

std::uint64_t hashText(std::string_view text) {
  return std::hash<std::string_view>{}(text);
}

bool equalNumbers(const Value& a, const Value& b) {
  if (a.isIntegral() && b.isIntegral()) return a.asIntegral() == b.asIntegral();
  // A long double holds every 64-bit integer and every double exactly.
  const auto wide = [](const Value& v) {
    return v.isIntegral() ? static_cast<long double>(v.asIntegral()) : static_cast<long double>(v.asFloat());
  };
  return wide(a) == wide(b);
}

bool equalDicts(Budget& budget, const Dict& a, const Dict& b) {
  if (a.entries().size() != b.entries().size()) return false;
  return std::all_of(a.entries().begin(), a.entries().end(), [&](const Dict::Entry& entry) {
    const Value* other = b.find(budget, entry.first);
    return other && equal(budget, entry.second, *other);
  });
}

}  // namespace

String::String(TaggedText content, bool isMarkup)
    : text(std::move(content)), length(utf8::countChars(text.text())), markup(isMarkup) {}

Value Arguments::takeKeyword(std::string_view name) {
  const auto found = std::find_if(keywords.begin(), keywords.end(), [&](const auto& keyword) {
    return keyword.first.asString().view() == name;
  });
  if (found == keywords.end()) return {};
  const Value value = found->second;
  keywords.erase(found);
  return value;
}

std::string Undefined::message() const {
  if (!hint.empty()) return std::string(hint);
  std::string shown = name.isString() ? "'" + std::string(name.asString().view()) + "'" : "this element";
  if (name.is(Kind::kInt)) shown = std::to_string(name.asIntegral());
  if (unsafe) return "access to attribute " + shown + " of '" + owner + "' object is unsafe";
  if (!owner) return shown + " is undefined";
  return std::string("'") + owner + " object' has no " + (name.isString() ? "attribute " : "element ") +
         shown;
}

void Undefined::raise() const {
  fail(unsafe ? FailureKind::kSecurity : FailureKind::kUndefined, message());
}

const char* typeName(const Value& value) {
  switch (value.kind()) {
    case Kind::kMissing:
      return "missing";
    case Kind::kUndefined:
      return "Undefined";
    case Kind::kNone:
      return "NoneType";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kFloat:
      return "float";
    case Kind::kString:
      return "str";
    case Kind::kList:
      return "list";
    case Kind::kTuple:
      return "tuple";
    case Kind::kDict:
      return "dict";
    case Kind::kDictView:
      return "dict view";
    case Kind::kRange:
      return "range";
    case Kind::kNamespace:
      return "Namespace";
    case Kind::kIterator:
      return "generator";
    case Kind::kFunction:
      return "function";
    case Kind::kMacro:
      return "Macro";
    case Kind::kLoop:
      return "LoopContext";
    case Kind::kCycler:
      return "Cycler";
    case Kind::kJoiner:
      return "Joiner";
  }
  return "object";
}

std::uint64_t hashOf(Budget& budget, const Value& value) {
  switch (value.kind()) {
    case Kind::kNone:
      return 0x4E6F6E65;
    case Kind::kUndefined:
      return 0x556E64;
    case Kind::kBool:
    case Kind::kInt:
      return mix(static_cast<std::uint64_t>(value.asIntegral()));
    case Kind::kFloat: {
      const double number = value.asFloat();
      const bool integral = std::floor(number) == number && number >= -0x1p63 && number < 0x1p63;
      if (integral) return mix(static_cast<std::uint64_t>(static_cast<std::int64_t>(number)));
      return mix(std::bit_cast<std::uint64_t>(number));
    }
    case Kind::kString:
      budget.spendScan(value.asString().view().size());
      return hashText(value.asString().view());
    case Kind::kTuple: {
      budget.spend(value.asSequence().items.size());
      std::uint64_t hash = 0x7457;
      for (const Value& item : value.asSequence().items) {
        // A tuple inside a tuple counts by its size only: equal values still hash alike, and nothing
        // recurses.
        hash = mix(hash ^ (item.is(Kind::kTuple) ? item.asSequence().items.size() : hashOf(budget, item)));
      }
      return hash;
    }
    case Kind::kList:
    case Kind::kDict:
    case Kind::kDictView:
      fail(FailureKind::kRuntime, std::string("unhashable type: '") + typeName(value) + "'");
    default:
      return mix(reinterpret_cast<std::uintptr_t>(value.object()));
  }
}

bool equal(Budget& budget, const Value& a, const Value& b) {
  budget.spend(1);
  if (a.isNumber() && b.isNumber()) return equalNumbers(a, b);
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::kMissing:
    case Kind::kUndefined:
    case Kind::kNone:
      return true;
    case Kind::kString: {
      const std::string_view left = a.asString().view();
      const std::string_view right = b.asString().view();
      if (left.size() != right.size()) return false;
      budget.spendScan(left.size());
      return left == right;
    }
    case Kind::kList:
    case Kind::kTuple: {
      const auto& left = a.asSequence().items;
      const auto& right = b.asSequence().items;
      if (a.object() == b.object()) return true;
      const DepthGuard guard(budget, kValueDepth);
      return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                        [&budget](const Value& x, const Value& y) { return equal(budget, x, y); });
    }
    case Kind::kDict: {
      const DepthGuard guard(budget, kValueDepth);
      return a.object() == b.object() || equalDicts(budget, a.asDict(), b.asDict());
    }
    case Kind::kRange: {
      const auto& left = a.as<Range>();
      const auto& right = b.as<Range>();
      if (left.size != right.size) return false;
      return left.size == 0 || (left.start == right.start && (left.size == 1 || left.step == right.step));
    }
    default:
      return a.object() == b.object();
  }
}

template <class Same>
std::ptrdiff_t Dict::indexOf(std::uint64_t hash, const Same& same) const {
  if (index_.empty()) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (same(entries_[i].first)) return static_cast<std::ptrdiff_t>(i);
    }
    return -1;
  }
  const auto [first, last] = index_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (same(entries_[it->second].first)) return static_cast<std::ptrdiff_t>(it->second);
  }
  return -1;
}

const Value* Dict::find(Budget& budget, const Value& key) const {
  const auto same = [&](const Value& other) { return equal(budget, key, other); };
  const std::ptrdiff_t at = indexOf(hashOf(budget, key), same);
  return at < 0 ? nullptr : &entries_[static_cast<std::size_t>(at)].second;
}

const Value* Dict::find(std::string_view key) const {
  const std::ptrdiff_t at = indexOf(
      hashText(key), [&](const Value& other) { return other.isString() && other.asString().view() == key; });
  return at < 0 ? nullptr : &entries_[static_cast<std::size_t>(at)].second;
}

void Dict::set(Budget& budget, const Value& key, const Value& value) {
  const std::uint64_t hash = hashOf(budget, key);
  const std::ptrdiff_t at = indexOf(hash, [&](const Value& other) { return equal(budget, key, other); });
  if (at >= 0) {
    entries_[static_cast<std::size_t>(at)].second = value;
    return;
  }
  entries_.emplace_back(key, value);
  if (!index_.empty()) {
    index_.emplace(hash, entries_.size() - 1);
  } else if (entries_.size() == kIndexFrom) {
    for (std::size_t i = 0; i < entries_.size(); ++i)
      index_.emplace(hashOf(budget, entries_[i].first), i);
  }
}

}  // namespace tandem::jinja
