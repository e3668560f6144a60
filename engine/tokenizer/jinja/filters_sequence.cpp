// Filters on lists, dictionaries and other values that can be gone through.
#include <algorithm>
#include <unordered_map>

#include "engine/tokenizer/jinja/attribute_path.h"
#include "engine/tokenizer/jinja/attributes.h"
#include "engine/tokenizer/jinja/builtins.h"
#include "engine/tokenizer/jinja/iteration.h"
#include "engine/tokenizer/jinja/operators.h"
#include "engine/tokenizer/jinja/text.h"

namespace tandem::jinja {
namespace {

Value length(Runtime&, const Value& self, const Arguments& arguments) {
  bind("length", arguments, {});
  return Value::integer(requireLength(self));
}

Value defaultFilter(Runtime&, const Value& self, const Arguments& arguments) {
  const std::vector<Value> given = bind("default", arguments, {"default_value", "boolean"});
  const bool replaced = self.isUndefined() || (truthOr(given[1], false) && !truthy(self));
  if (!replaced) return self;
  static const String kEmpty(TaggedText(), false);
  return given[0].isMissing() ? Value(&kEmpty) : given[0];
}

Value first(Runtime& runtime, const Value& self, const Arguments& arguments) {
  bind("first", arguments, {});
  const Value item = next(runtime, iterate(runtime, self));
  return item.isMissing() ? runtime.undefinedHint("No first item, sequence was empty.") : item;
}

Value last(Runtime& runtime, const Value& self, const Arguments& arguments) {
  bind("last", arguments, {});
  const Value backwards = reversed(runtime, self);
  if (backwards.isMissing()) failType(std::string("'") + typeName(self) + "' object is not reversible");
  const Value item = next(runtime, backwards.asMutable<Iterator>());
  return item.isMissing() ? runtime.undefinedHint("No last item, sequence was empty.") : item;
}

Value list(Runtime& runtime, const Value& self, const Arguments& arguments) {
  bind("list", arguments, {});
  return runtime.arena.list(collect(runtime, self));
}

Value reverse(Runtime& runtime, const Value& self, const Arguments& arguments) {
  bind("reverse", arguments, {});
  if (self.isString()) return slice(runtime, self, Value::none(), Value::none(), Value::integer(-1));
  const Value backwards = reversed(runtime, self);
  if (!backwards.isMissing()) return backwards;
  std::vector<Value> items = collect(runtime, self);
  std::reverse(items.begin(), items.end());
  return runtime.arena.list(std::move(items));
}

Value join(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> given = bind("join", arguments, {"d", "attribute"});
  const TaggedText separator = given[0].isMissing() ? TaggedText() : toText(runtime, given[0]);
  const AttributePath path(runtime, given[1]);
  TaggedText out;
  Iterator& items = iterate(runtime, self);
  bool isFirst = true;
  for (Value item = next(runtime, items); !item.isMissing(); item = next(runtime, items)) {
    if (!isFirst) {
      runtime.budget.spendBytes(costOf(separator));
      out.append(separator);
    }
    isFirst = false;
    out.append(toText(runtime, path.of(runtime, item)));
  }
  return runtime.text(std::move(out));
}

// A generator in Python: what is no mapping is noticed when the pairs are asked for.
Value items(Runtime& runtime, const Value& self, const Arguments& arguments) {
  bind("items", arguments, {});
  return runtime.iterator([self, index = std::size_t{0}](Runtime& rt) mutable -> Value {
    if (self.isUndefined()) return {};
    if (!self.is(Kind::kDict)) failType("Can only get item pairs from a mapping.");
    const std::vector<Dict::Entry>& entries = self.asDict().entries();
    if (index >= entries.size()) return {};
    const Dict::Entry& entry = entries[index++];
    return rt.arena.tuple({entry.first, entry.second});
  });
}

// Items with the keys they are sorted by.
struct Keyed {
  std::vector<Value> keys;
  Value item;
};

// Several keys are compared like lists: the first pair that is not equal decides. A single key is compared at
// once.
void sortKeyed(Runtime& runtime, std::vector<Keyed>& items, bool descending, bool asLists = false) {
  const auto less = [&](const Keyed& a, const Keyed& b) {
    if (!asLists) return lessThan(runtime, a.keys[0], b.keys[0]);
    for (std::size_t i = 0; i < a.keys.size(); ++i) {
      if (!equal(runtime.budget, a.keys[i], b.keys[i])) return lessThan(runtime, a.keys[i], b.keys[i]);
    }
    return false;
  };
  if (descending) {
    std::stable_sort(items.begin(), items.end(), [&](const Keyed& a, const Keyed& b) { return less(b, a); });
  } else {
    std::stable_sort(items.begin(), items.end(), less);
  }
}

Value unkeyed(Runtime& runtime, const std::vector<Keyed>& items) {
  std::vector<Value> plain;
  plain.reserve(items.size());
  for (const Keyed& keyed : items)
    plain.push_back(keyed.item);
  return runtime.arena.list(std::move(plain));
}

// Unlike other switches this one goes to Python's sorted() as it is, which takes nothing but an integer or a
// bool.
bool isDescending(const Value& reverse) {
  return integerOr(reverse, 0, "reverse") != 0;
}

Value sort(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> given = bind("sort", arguments, {"reverse", "case_sensitive", "attribute"});
  const bool caseSensitive = truthOr(given[1], false);
  const std::vector<AttributePath> paths = AttributePath::several(runtime, given[2]);
  std::vector<Keyed> keyed;
  for (const Value& item : collect(runtime, self)) {
    runtime.budget.spendBytes(sizeof(Keyed) + paths.size() * sizeof(Value));
    Keyed entry{{}, item};
    for (const AttributePath& path : paths) {
      const Value key = path.of(runtime, item);
      entry.keys.push_back(caseSensitive ? key : ignoreCase(runtime, key));
    }
    keyed.push_back(std::move(entry));
  }
  sortKeyed(runtime, keyed, isDescending(given[0]), true);
  return unkeyed(runtime, keyed);
}

Value dictSort(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> given = bind("dictsort", arguments, {"case_sensitive", "by", "reverse"});
  if (self.isUndefined()) self.as<Undefined>().raise();
  if (!self.is(Kind::kDict))
    failType(std::string("dictsort needs a dictionary, not '") + typeName(self) + "'");
  const bool caseSensitive = truthOr(given[0], false);
  const std::string_view by = given[1].isString()    ? given[1].asString().view()
                              : given[1].isMissing() ? "key"
                                                     : "";
  if (by != "key" && by != "value") failType("You can only sort by either \"key\" or \"value\"");
  std::vector<Keyed> keyed;
  for (const auto& [key, value] : self.asDict().entries()) {
    runtime.budget.spendBytes(sizeof(Keyed) + sizeof(Value));
    const Value& sortedBy = by == "key" ? key : value;
    keyed.push_back(
        {{caseSensitive ? sortedBy : ignoreCase(runtime, sortedBy)}, runtime.arena.tuple({key, value})});
  }
  sortKeyed(runtime, keyed, isDescending(given[2]));
  return unkeyed(runtime, keyed);
}

Value unique(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> given = bind("unique", arguments, {"case_sensitive", "attribute"});
  const bool caseSensitive = truthOr(given[0], false);
  const AttributePath path(runtime, given[1]);
  auto* seen = runtime.arena.make<Dict>();
  Iterator* source = nullptr;
  return runtime.iterator([=](Runtime& rt) mutable -> Value {
    if (!source) source = &iterate(rt, self);
    for (Value item = next(rt, *source); !item.isMissing(); item = next(rt, *source)) {
      const Value key = caseSensitive ? path.of(rt, item) : ignoreCase(rt, path.of(rt, item));
      if (seen->find(rt.budget, key)) continue;
      rt.budget.spendBytes(sizeof(Dict::Entry));
      seen->set(rt.budget, key, Value::none());
      return item;
    }
    return {};
  });
}

template <bool kMax>
Value extreme(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> given = bind("min", arguments, {"case_sensitive", "attribute"});
  const bool caseSensitive = truthOr(given[0], false);
  const AttributePath path(runtime, given[1]);
  const auto keyOf = [&](const Value& item) {
    return caseSensitive ? path.of(runtime, item) : ignoreCase(runtime, path.of(runtime, item));
  };
  Iterator& source = iterate(runtime, self);
  Value best = next(runtime, source);
  if (best.isMissing()) return runtime.undefinedHint("No aggregated item, sequence was empty.");
  Value bestKey = keyOf(best);
  for (Value item = next(runtime, source); !item.isMissing(); item = next(runtime, source)) {
    const Value key = keyOf(item);
    if (kMax ? lessThan(runtime, bestKey, key) : lessThan(runtime, key, bestKey)) {
      best = item;
      bestKey = key;
    }
  }
  return best;
}

Value sum(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> given = bind("sum", arguments, {"attribute", "start"});
  const AttributePath path(runtime, given[0]);
  Value total = given[1].isMissing() ? Value::integer(0, true) : given[1];
  if (total.isString()) failType("sum cannot add strings");
  Iterator& source = iterate(runtime, self);
  for (Value item = next(runtime, source); !item.isMissing(); item = next(runtime, source)) {
    total = arithmetic(runtime, Arithmetic::kAdd, total, path.of(runtime, item));
  }
  return total;
}

Value groupBy(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> given = bind("groupby", arguments, {"attribute", "default", "case_sensitive"}, 1);
  const bool caseSensitive = truthOr(given[2], false);
  const AttributePath path(runtime, given[0], given[1]);
  std::vector<Keyed> keyed;
  for (const Value& item : collect(runtime, self)) {
    runtime.budget.spendBytes(sizeof(Keyed) + sizeof(Value));
    const Value key = path.of(runtime, item);
    keyed.push_back({{caseSensitive ? key : ignoreCase(runtime, key)}, item});
  }
  sortKeyed(runtime, keyed, false);
  std::vector<Value> groups;
  for (std::size_t begin = 0, end = 0; begin < keyed.size(); begin = end) {
    std::vector<Value> members;
    for (; end < keyed.size() && equal(runtime.budget, keyed[begin].keys[0], keyed[end].keys[0]); ++end) {
      members.push_back(keyed[end].item);
    }
    if (members.empty()) members.push_back(keyed[end++].item);  // NaN, which equals nothing
    const Value grouper = path.of(runtime, members.front());
    auto* group = runtime.arena.make<Sequence>();
    group->items = {grouper, runtime.arena.list(std::move(members))};
    group->isGroup = true;
    groups.emplace_back(Kind::kTuple, group);
  }
  return runtime.arena.list(std::move(groups));
}

Value batch(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> given = bind("batch", arguments, {"linecount", "fill_with"}, 1);
  const std::int64_t size = integerOr(given[0], 1, "linecount");
  const Value fill = given[1].isNone() ? Value() : given[1];
  Iterator* source = nullptr;
  return runtime.iterator([=, pending = Value()](Runtime& rt) mutable -> Value {
    if (!source) source = &iterate(rt, self);
    std::vector<Value> line;
    if (!pending.isMissing()) line.push_back(pending);
    pending = Value();
    for (Value item = next(rt, *source); !item.isMissing(); item = next(rt, *source)) {
      if (!line.empty() && static_cast<std::int64_t>(line.size()) == size) {
        pending = item;
        return rt.arena.list(std::move(line));
      }
      line.push_back(item);
    }
    if (line.empty()) return {};
    const std::int64_t missing = size - static_cast<std::int64_t>(line.size());
    if (!fill.isMissing() && missing > 0) {
      rt.budget.spend(static_cast<std::uint64_t>(missing));
      line.insert(line.end(), static_cast<std::size_t>(missing), fill);
    }
    return rt.arena.list(std::move(line));
  });
}

Value sliceFilter(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> given = bind("slice", arguments, {"slices", "fill_with"}, 1);
  const Value wanted = given[0];
  const Value fill = given[1].isNone() ? Value() : given[1];
  Value all;
  return runtime.iterator([=, number = std::int64_t{0}](Runtime& rt) mutable -> Value {
    if (all.isMissing()) all = rt.arena.list(collect(rt, self));
    const std::int64_t slices = integerOr(wanted, 1, "slices");
    if (slices == 0) failType("division by zero");
    if (number >= slices) return {};
    const std::vector<Value>& source = all.asSequence().items;
    const auto size = static_cast<std::int64_t>(source.size());
    const std::int64_t each = size / slices;
    const std::int64_t longer = size % slices;  // the first ones have one more
    const std::int64_t begin = number * each + std::min(number, longer);
    const std::int64_t end = begin + each + (number < longer ? 1 : 0);
    std::vector<Value> part(source.begin() + begin, source.begin() + end);
    if (!fill.isMissing() && number >= longer) part.push_back(fill);
    ++number;
    return rt.arena.list(std::move(part));
  });
}

Value attr(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> given = bind("attr", arguments, {"name"}, 1);
  if (!given[0].isString()) failType("attr needs the name of an attribute");
  return getPlainAttribute(runtime, self, given[0]);
}

}  // namespace

NativeCall findSequenceFilter(std::string_view name) {
  static const std::unordered_map<std::string_view, NativeCall> kFilters = {
      {"attr", attr},
      {"batch", batch},
      {"count", length},
      {"d", defaultFilter},
      {"default", defaultFilter},
      {"dictsort", dictSort},
      {"first", first},
      {"groupby", groupBy},
      {"items", items},
      {"join", join},
      {"last", last},
      {"length", length},
      {"list", list},
      {"max", extreme<true>},
      {"min", extreme<false>},
      {"reverse", reverse},
      {"slice", sliceFilter},
      {"sort", sort},
      {"sum", sum},
      {"unique", unique},
  };
  const auto found = kFilters.find(name);
  return found == kFilters.end() ? nullptr : found->second;
}

}  // namespace tandem::jinja
