// The functions that every template can call.
#include "engine/tokenizer/jinja/builtins.h"
#include "engine/tokenizer/jinja/iteration.h"
#include "engine/tokenizer/jinja/text.h"

namespace tandem::jinja {
namespace {

Value range(Runtime& runtime, const Value&, const Arguments& arguments) {
  const std::vector<Value>& given = positionalOnly("range", arguments, 1, 3);
  for (const Value& bound : given) {
    if (bound.isUndefined()) bound.as<Undefined>().raise();
  }
  auto* made = runtime.arena.make<Range>();
  made->start = given.size() > 1 ? integerOr(given[0], 0, "range") : 0;
  made->stop = integerOr(given.size() > 1 ? given[1] : given[0], 0, "range");
  made->step = given.size() > 2 ? integerOr(given[2], 1, "range") : 1;
  made->fromTemplate = true;
  for (const Value& bound : given)
    made->fromTemplate = made->fromTemplate && bound.fromTemplate();
  if (made->step == 0) failType("range() arg 3 must not be zero");
  // In 128 bits: the distance between two 64-bit numbers needs 65.
  const auto distance = static_cast<__int128>(made->stop) - made->start;
  const bool forward = made->step > 0;
  const bool empty = forward ? distance <= 0 : distance >= 0;
  const __int128 count = empty ? 0 : (distance + (forward ? -1 : 1)) / made->step + 1;
  if (count > kMaxRange) {
    fail(FailureKind::kBudget, "a range has more than " + std::to_string(kMaxRange) + " items");
  }
  made->size = static_cast<std::int64_t>(count);
  return Value(Kind::kRange, made);
}

// Fills a dictionary the way dict(...) does: from a mapping or pairs, then from named arguments.
void fillDict(Runtime& runtime, Dict& dict, const Arguments& arguments) {
  if (arguments.positional.size() > 1) failType("dict expected at most 1 argument");
  const auto add = [&](const Value& key, const Value& value) {
    runtime.budget.spendBytes(sizeof(Dict::Entry));
    dict.set(runtime.budget, key, value);
  };
  if (!arguments.positional.empty()) {
    const Value& source = arguments.positional[0];
    if (source.is(Kind::kDict)) {
      for (const auto& [key, value] : source.asDict().entries())
        add(key, value);
    } else {
      for (const Value& item : collect(runtime, source)) {
        const std::vector<Value> pair = collect(runtime, item);
        if (pair.size() != 2) failType("dict needs pairs of key and value");
        add(pair[0], pair[1]);
      }
    }
  }
  for (const auto& [name, value] : arguments.keywords)
    add(name, value);
}

Value dict(Runtime& runtime, const Value&, const Arguments& arguments) {
  auto* made = runtime.arena.make<Dict>();
  fillDict(runtime, *made, arguments);
  return Value(made);
}

Value makeNamespace(Runtime& runtime, const Value&, const Arguments& arguments) {
  auto* made = runtime.arena.make<Namespace>();
  fillDict(runtime, made->attributes, arguments);
  return Value(Kind::kNamespace, made);
}

Value cycler(Runtime& runtime, const Value&, const Arguments& arguments) {
  if (arguments.positional.empty()) failType("at least one item has to be provided");
  if (!arguments.keywords.empty()) failType("cycler takes no named arguments");
  auto* made = runtime.arena.make<Cycler>();
  runtime.budget.spendBytes(arguments.positional.size() * sizeof(Value));
  made->items = arguments.positional;
  return Value(Kind::kCycler, made);
}

Value joiner(Runtime& runtime, const Value&, const Arguments& arguments) {
  const std::vector<Value> given = bind("joiner", arguments, {"sep"});
  auto* made = runtime.arena.make<Joiner>();
  made->separator = given[0].isMissing() ? runtime.data(", ") : given[0];
  return Value(Kind::kJoiner, made);
}

Value raiseException(Runtime& runtime, const Value&, const Arguments& arguments) {
  const std::vector<Value> given = bind("raise_exception", arguments, {"message"}, 1);
  fail(FailureKind::kRaised, toText(runtime, given[0]).text());
}

Value strftimeNow(Runtime& runtime, const Value&, const Arguments& arguments) {
  const std::vector<Value> given = bind("strftime_now", arguments, {"format"}, 1);
  if (!given[0].isString()) failType("strftime_now needs a format string");
  runtime.budget.spendBytes(8 * given[0].asString().text.size());
  return runtime.data(formatTime(runtime.clock(), given[0].asString().view()));
}

}  // namespace

Value findGlobal(Runtime& runtime, std::string_view name) {
  constexpr std::pair<std::string_view, NativeCall> kGlobals[] = {
      {"range", range},
      {"dict", dict},
      {"namespace", makeNamespace},
      {"cycler", cycler},
      {"joiner", joiner},
      {"raise_exception", raiseException},
      {"strftime_now", strftimeNow},
  };
  for (const auto& [known, call] : kGlobals) {
    if (known == name) return runtime.function(known, call);
  }
  return {};
}

}  // namespace tandem::jinja
