// The methods of list, tuple, dict, int and float that do not change anything.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "engine/tokenizer/jinja/attributes.h"
#include "engine/tokenizer/jinja/iteration.h"

namespace tandem::jinja {
namespace {

Value listCount(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value>& given = positionalOnly("count", arguments, 1, 1);
  const std::vector<Value>& items = self.asSequence().items;
  const auto same = [&](const Value& item) { return equal(runtime.budget, item, given[0]); };
  return Value::integer(std::count_if(items.begin(), items.end(), same));
}

Value listIndex(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value>& given = positionalOnly("index", arguments, 1, 3);
  const std::vector<Value>& items = self.asSequence().items;
  const auto size = static_cast<std::int64_t>(items.size());
  const auto bound = [&](std::size_t index, std::int64_t fallback) {
    const std::int64_t at = given.size() > index ? integerOr(given[index], fallback, "an index") : fallback;
    return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size);
  };
  for (std::int64_t i = bound(1, 0); i < bound(2, size); ++i) {
    if (equal(runtime.budget, items[static_cast<std::size_t>(i)], given[0])) return Value::integer(i);
  }
  failType("value is not in list");
}

Value listCopy(Runtime& runtime, const Value& self, const Arguments& arguments) {
  positionalOnly("copy", arguments, 0, 0);
  return runtime.arena.list(collect(runtime, self));
}

template <DictView::Part kPart>
Value dictView(Runtime& runtime, const Value& self, const Arguments& arguments) {
  positionalOnly("a dictionary method", arguments, 0, 0);
  auto* view = runtime.arena.make<DictView>();
  view->dict = &self.asDict();
  view->part = kPart;
  return Value(Kind::kDictView, view);
}

Value dictGet(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value>& given = positionalOnly("get", arguments, 1, 2);
  const Value* found = self.asDict().find(runtime.budget, given[0]);
  if (found) return *found;
  return given.size() > 1 ? given[1] : Value::none();
}

Value dictCopy(Runtime& runtime, const Value& self, const Arguments& arguments) {
  positionalOnly("copy", arguments, 0, 0);
  auto* copy = runtime.arena.make<Dict>();
  for (const auto& [key, value] : self.asDict().entries()) {
    runtime.budget.spendBytes(sizeof(Dict::Entry));
    copy->set(runtime.budget, key, value);
  }
  return Value(copy);
}

Value dictFromKeys(Runtime& runtime, const Value&, const Arguments& arguments) {
  const std::vector<Value>& given = positionalOnly("fromkeys", arguments, 1, 2);
  auto* made = runtime.arena.make<Dict>();
  for (const Value& key : collect(runtime, given[0])) {
    runtime.budget.spendBytes(sizeof(Dict::Entry));
    made->set(runtime.budget, key, given.size() > 1 ? given[1] : Value::none());
  }
  return Value(made);
}

Value isInteger(Runtime&, const Value& self, const Arguments& arguments) {
  positionalOnly("is_integer", arguments, 0, 0);
  return Value::boolean(std::floor(self.asFloat()) == self.asFloat() && std::isfinite(self.asFloat()));
}

Value bitLength(Runtime&, const Value& self, const Arguments& arguments) {
  positionalOnly("bit_length", arguments, 0, 0);
  const std::int64_t number = self.asIntegral();
  auto magnitude = number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
  std::int64_t bits = 0;
  for (; magnitude > 0; magnitude >>= 1)
    ++bits;
  return Value::integer(bits, self.fromTemplate());
}

}  // namespace

NativeCall listMethod(std::string_view name) {
  if (name == "count") return listCount;
  if (name == "index") return listIndex;
  return name == "copy" ? listCopy : nullptr;
}

NativeCall dictMethod(std::string_view name) {
  static const std::unordered_map<std::string_view, NativeCall> kMethods = {
      {"copy", dictCopy},
      {"fromkeys", dictFromKeys},
      {"get", dictGet},
      {"items", dictView<DictView::Part::kItems>},
      {"keys", dictView<DictView::Part::kKeys>},
      {"values", dictView<DictView::Part::kValues>},
  };
  const auto found = kMethods.find(name);
  return found == kMethods.end() ? nullptr : found->second;
}

NativeCall numberMethod(std::string_view name) {
  if (name == "is_integer") return isInteger;
  return name == "bit_length" ? bitLength : nullptr;
}

}  // namespace tandem::jinja
