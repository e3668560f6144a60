// Subscripts and slices.
#include <algorithm>

#include "engine/tokenizer/jinja/iteration.h"
#include "engine/tokenizer/jinja/operators.h"
#include "engine/tokenizer/jinja/utf8.h"

namespace tandem::jinja {
namespace {

// A slice bound clipped to [low, high], counted from the end when negative.
std::int64_t clip(const Value& bound, std::int64_t fallback, std::int64_t size, std::int64_t low,
                  std::int64_t high) {
  if (bound.isNone() || bound.isMissing()) return fallback;
  if (!bound.isIntegral()) failType("slice indices must be integers or none");
  std::int64_t at = bound.asIntegral();
  if (at < 0) at += size;
  return std::clamp(at, low, high);
}

struct SliceRange {
  std::int64_t start, stop, count, step;
};

SliceRange sliceRange(const Value& start, const Value& stop, const Value& stepValue, std::int64_t size) {
  const bool noStep = stepValue.isNone() || stepValue.isMissing();
  if (!noStep && !stepValue.isIntegral()) failType("slice indices must be integers or none");
  const std::int64_t step = noStep ? 1 : stepValue.asIntegral();
  if (step == 0) failType("slice step cannot be zero");
  if (step > 0) {
    const std::int64_t from = clip(start, 0, size, 0, size);
    const std::int64_t to = clip(stop, size, size, 0, size);
    return {from, to, from < to ? (to - from - 1) / step + 1 : 0, step};
  }
  const std::int64_t from = clip(start, size - 1, size, -1, size - 1);
  const std::int64_t to = clip(stop, -1, size, -1, size - 1);
  // -(step + 1) + 1 is -step, written so that the most negative step does not overflow.
  const auto stride = static_cast<std::uint64_t>(-(step + 1)) + 1;
  const std::int64_t count =
      from > to ? static_cast<std::int64_t>(static_cast<std::uint64_t>(from - to - 1) / stride) + 1 : 0;
  return {from, to, count, step};
}

// A part of a range is a range again.
Value sliceOfRange(Runtime& runtime, const Range& source, const SliceRange& cut) {
  const auto at = [&](std::int64_t index) {
    std::int64_t offset = 0;
    std::int64_t result = 0;
    if (__builtin_mul_overflow(index, source.step, &offset))
      failType("a slice of a range does not fit in 64 bits");
    if (__builtin_add_overflow(source.start, offset, &result))
      failType("a slice of a range does not fit in 64 bits");
    return result;
  };
  auto* part = runtime.arena.make<Range>(source);
  if (__builtin_mul_overflow(source.step, cut.step, &part->step))
    failType("a slice of a range does not fit in 64 bits");
  part->start = at(cut.start);
  part->stop = at(cut.stop);
  part->size = cut.count;
  return Value(Kind::kRange, part);
}

}  // namespace

Value slice(Runtime& runtime, const Value& value, const Value& start, const Value& stop, const Value& step) {
  if (value.isUndefined()) value.as<Undefined>().raise();
  const bool sliceable = value.isString() || value.isSequence() || value.is(Kind::kRange);
  if (!sliceable) failType(std::string("'") + typeName(value) + "' object cannot be sliced");
  const SliceRange range = sliceRange(start, stop, step, requireLength(value));
  if (value.isString() && range.step == 1) {
    const String& string = value.asString();
    auto begin = static_cast<std::size_t>(range.start);
    auto end = static_cast<std::size_t>(range.start + range.count);
    if (!string.isAscii()) {
      runtime.budget.spendBytes(string.text.size());
      begin = utf8::offsetOf(string.view(), begin);
      end = begin + utf8::offsetOf(string.view().substr(begin), static_cast<std::size_t>(range.count));
    }
    return runtime.text(string.text.substr(begin, end - begin), string.markup);
  }
  if (value.is(Kind::kRange)) return sliceOfRange(runtime, value.as<Range>(), range);
  std::vector<Value> items;
  if (value.isString()) {
    const std::vector<Value> characters = collect(runtime, value);
    TaggedText out;
    for (std::int64_t i = 0; i < range.count; ++i) {
      out.append(characters[static_cast<std::size_t>(range.start + i * range.step)].asString().text);
    }
    return runtime.text(std::move(out), value.asString().markup);
  }
  for (std::int64_t i = 0; i < range.count; ++i) {
    runtime.budget.spend(1);
    items.push_back(itemAt(runtime, value, range.start + i * range.step));
  }
  return value.is(Kind::kTuple) ? runtime.arena.tuple(std::move(items))
                                : runtime.arena.list(std::move(items));
}

Value subscript(Runtime& runtime, const Value& value, const Value& index) {
  if (value.is(Kind::kDict)) {
    // An unhashable key is no key; Python's error for it is caught by Jinja's lookup.
    if (index.is(Kind::kList) || index.is(Kind::kDict) || index.is(Kind::kDictView)) return {};
    const Value* found = value.asDict().find(runtime.budget, index);
    return found ? *found : Value();
  }
  const bool indexable = value.isString() || value.isSequence() || value.is(Kind::kRange);
  if (!indexable || !index.isIntegral()) return {};
  const std::int64_t size = requireLength(value);
  std::int64_t at = index.asIntegral();
  if (at < 0) at += size;
  if (at < 0 || at >= size) return {};
  return itemAt(runtime, value, at);
}

}  // namespace tandem::jinja
