#include "engine/tokenizer/jinja/iteration.h"

#include "engine/tokenizer/jinja/utf8.h"

namespace tandem::jinja {
namespace {

Value viewItem(Runtime& runtime, const DictView& view, std::size_t index) {
  const Dict::Entry& entry = view.dict->entries()[index];
  switch (view.part) {
    case DictView::Part::kKeys:
      return entry.first;
    case DictView::Part::kValues:
      return entry.second;
    case DictView::Part::kItems:
      return runtime.arena.tuple({entry.first, entry.second});
  }
  return {};
}

// The characters are plain strings, also those of Markup.
Value overString(Runtime& runtime, const String& string) {
  return runtime.iterator([&string, position = std::size_t{0}](Runtime& rt) mutable -> Value {
    if (position >= string.text.size()) return {};
    const std::size_t length = utf8::decode(string.view(), position).length;
    const Value character = rt.text(string.text.substr(position, length));
    position += length;
    return character;
  });
}

// Over anything that itemAt can index, forwards or backwards.
Value overIndexed(Runtime& runtime, const Value& value, bool backwards) {
  const std::int64_t size = requireLength(value);
  return runtime.iterator([value, size, backwards, index = std::int64_t{0}](Runtime& rt) mutable -> Value {
    if (index >= size) return {};
    const std::int64_t at = backwards ? size - 1 - index : index;
    ++index;
    return itemAt(rt, value, at);
  });
}

}  // namespace

bool truthy(const Value& value) {
  switch (value.kind()) {
    case Kind::kMissing:
    case Kind::kUndefined:
    case Kind::kNone:
      return false;
    case Kind::kBool:
      return value.asBool();
    case Kind::kInt:
      return value.asIntegral() != 0;
    case Kind::kFloat:
      return value.asFloat() != 0;
    default:
      break;
  }
  const std::optional<std::int64_t> length = lengthOf(value);
  return !length || *length != 0;
}

std::optional<std::int64_t> lengthOf(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return 0;
    case Kind::kString:
      return static_cast<std::int64_t>(value.asString().length);
    case Kind::kList:
    case Kind::kTuple:
      return static_cast<std::int64_t>(value.asSequence().items.size());
    case Kind::kDict:
      return static_cast<std::int64_t>(value.asDict().entries().size());
    case Kind::kDictView:
      return static_cast<std::int64_t>(value.as<DictView>().dict->entries().size());
    case Kind::kRange:
      return value.as<Range>().size;
    default:
      return std::nullopt;
  }
}

std::int64_t requireLength(const Value& value) {
  const std::optional<std::int64_t> length = lengthOf(value);
  if (!length) failType(std::string("object of type '") + typeName(value) + "' has no length");
  return *length;
}

bool isIterable(const Value& value) {
  return lengthOf(value).has_value() || value.is(Kind::kIterator);
}

Iterator& iterate(Runtime& runtime, const Value& value) {
  if (value.is(Kind::kIterator)) return value.asMutable<Iterator>();
  if (value.isString()) return overString(runtime, value.asString()).asMutable<Iterator>();
  if (!isIterable(value)) failType(std::string("'") + typeName(value) + "' object is not iterable");
  return overIndexed(runtime, value, false).asMutable<Iterator>();
}

Value next(Runtime& runtime, Iterator& iterator) {
  runtime.budget.spend(1);
  const DepthGuard guard(runtime.budget);
  return iterator.next(runtime);
}

std::vector<Value> collect(Runtime& runtime, const Value& value) {
  if (value.isSequence()) {
    const std::vector<Value>& items = value.asSequence().items;
    runtime.budget.spendBytes(items.size() * sizeof(Value));
    return items;
  }
  std::vector<Value> items;
  Iterator& iterator = iterate(runtime, value);
  for (Value item = next(runtime, iterator); !item.isMissing(); item = next(runtime, iterator)) {
    items.push_back(item);
  }
  return items;
}

Value itemAt(Runtime& runtime, const Value& sequence, std::int64_t index) {
  const auto at = static_cast<std::size_t>(index);
  switch (sequence.kind()) {
    case Kind::kList:
    case Kind::kTuple:
      return sequence.asSequence().items[at];
    case Kind::kString:
      return characterAt(runtime, sequence.asString(), index);
    case Kind::kDict:
      return sequence.asDict().entries()[at].first;
    case Kind::kDictView:
      return viewItem(runtime, sequence.as<DictView>(), at);
    case Kind::kRange: {
      const auto& range = sequence.as<Range>();
      return Value::integer(range.at(index), range.fromTemplate);
    }
    default:
      failType(std::string("'") + typeName(sequence) + "' object cannot be indexed");
  }
}

Value reversed(Runtime& runtime, const Value& value) {
  if (!lengthOf(value)) return {};
  return overIndexed(runtime, value, true);
}

Value characterAt(Runtime& runtime, const String& string, std::int64_t index) {
  auto position = static_cast<std::size_t>(index);
  if (!string.isAscii()) {
    runtime.budget.spendBytes(4 * position);  // of characters, which have up to four bytes
    position = utf8::offsetOf(string.view(), position);
  }
  return runtime.text(string.text.substr(position, utf8::decode(string.view(), position).length),
                      string.markup);
}

}  // namespace tandem::jinja
