#include "engine/tokenizer/jinja/loop.h"

#include "engine/tokenizer/jinja/iteration.h"

namespace tandem::jinja {
namespace {

const Value& peek(Runtime& runtime, Loop& loop) {
  if (!loop.ahead) loop.ahead = next(runtime, *loop.iterator);
  return *loop.ahead;
}

// A source without a length is read to its end to learn it.
std::int64_t lengthOfLoop(Runtime& runtime, Loop& loop) {
  if (loop.length) return *loop.length;
  if (const auto known = lengthOf(loop.iterable)) {
    loop.length = known;
    return *known;
  }
  std::vector<Value> rest = collect(runtime, Value(Kind::kIterator, loop.iterator));
  const bool peeked = loop.ahead && !loop.ahead->isMissing();
  loop.length = static_cast<std::int64_t>(rest.size()) + loop.index0 + 1 + (peeked ? 1 : 0);
  loop.iterator = &iterate(runtime, runtime.arena.list(std::move(rest)));
  return *loop.length;
}

Value cycle(Runtime&, const Value& self, const Arguments& arguments) {
  if (arguments.positional.empty()) failType("loop.cycle was given no items");
  if (!arguments.keywords.empty()) failType("loop.cycle takes no named arguments");
  const auto index = static_cast<std::size_t>(self.as<Loop>().index0);
  return arguments.positional[index % arguments.positional.size()];
}

Value changed(Runtime& runtime, const Value& self, const Arguments& arguments) {
  if (!arguments.keywords.empty()) failType("loop.changed takes no named arguments");
  Loop& loop = self.asMutable<Loop>();
  const Value given = runtime.arena.tuple(arguments.positional);
  const bool different = !loop.lastChanged || !equal(runtime.budget, *loop.lastChanged, given);
  loop.lastChanged = given;
  return Value::boolean(different);
}

}  // namespace

Loop* makeLoop(Runtime& runtime, const Value& iterable) {
  auto* loop = runtime.arena.make<Loop>();
  loop->iterable = iterable;
  loop->iterator = &iterate(runtime, iterable);
  return loop;
}

Value advance(Runtime& runtime, Loop& loop) {
  Value item;
  if (loop.ahead) {
    item = *loop.ahead;
    loop.ahead.reset();
  } else {
    item = next(runtime, *loop.iterator);
  }
  if (item.isMissing()) return item;
  ++loop.index0;
  loop.before = loop.current;
  loop.current = item;
  return item;
}

Value loopAttribute(Runtime& runtime, const Value& value, std::string_view name) {
  Loop& loop = value.asMutable<Loop>();
  const auto count = [](std::int64_t number) { return Value::integer(number, true); };
  if (name == "index") return count(loop.index0 + 1);
  if (name == "index0") return count(loop.index0);
  if (name == "first") return Value::boolean(loop.index0 == 0);
  if (name == "last") return Value::boolean(peek(runtime, loop).isMissing());
  if (name == "length") return count(lengthOfLoop(runtime, loop));
  if (name == "revindex") return count(lengthOfLoop(runtime, loop) - loop.index0);
  if (name == "revindex0") return count(lengthOfLoop(runtime, loop) - loop.index0 - 1);
  if (name == "depth") return count(1);
  if (name == "depth0") return count(0);
  if (name == "previtem")
    return loop.index0 == 0 ? runtime.undefinedHint("there is no previous item") : loop.before;
  if (name == "nextitem") {
    const Value& item = peek(runtime, loop);
    return item.isMissing() ? runtime.undefinedHint("there is no next item") : item;
  }
  if (name == "cycle") return runtime.function("cycle", cycle, value);
  if (name == "changed") return runtime.function("changed", changed, value);
  return {};
}

std::string describe(Runtime& runtime, Loop& loop) {
  return "<LoopContext " + std::to_string(loop.index0 + 1) + "/" +
         std::to_string(lengthOfLoop(runtime, loop)) + ">";
}

}  // namespace tandem::jinja
