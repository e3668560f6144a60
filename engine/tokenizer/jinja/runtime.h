// What filters, tests, methods and operators need while a template runs: the budget, the arena, the clock,
// and short ways to make values. One Runtime serves one render on one thread.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "engine/tokenizer/jinja/arena.h"
#include "engine/tokenizer/jinja/budget.h"
#include "engine/tokenizer/jinja/clock.h"
#include "engine/tokenizer/jinja/value.h"

namespace tandem::jinja {

class Runtime {
 public:
  Runtime(std::uint64_t inputBytes, Clock clockSource)
      : budget(inputBytes), arena(&budget), clock(std::move(clockSource)) {}
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  Budget budget;
  Arena arena;
  Clock clock;

  Value text(TaggedText content, bool markup = false) { return arena.string(std::move(content), markup); }
  Value data(std::string_view content) { return arena.string(content, false); }
  Value iterator(std::function<Value(Runtime&)> next);
  Value function(std::string_view name, NativeCall call, const Value& self = {});

  // Undefined values: a variable, an attribute or element of `owner`, one kept away, one with its own
  // message.
  Value undefinedName(const Value& name);
  Value undefinedMember(const Value& owner, const Value& name, bool unsafe = false);
  Value undefinedHint(std::string_view hint);
};

// The arguments of a call laid out by parameter, as Python would: positions first, then names. Missing where
// the call gave none. Fails when one is unknown, given twice, or among the first `required` and not given.
std::vector<Value> bind(std::string_view function, const Arguments& arguments,
                        std::initializer_list<std::string_view> parameters, std::size_t required = 0);

// The same for a call that takes positions only: checks that there are `least` to `most` of them and no
// names.
const std::vector<Value>& positionalOnly(std::string_view function, const Arguments& arguments,
                                         std::size_t least, std::size_t most);

[[noreturn]] inline void failType(std::string message) {
  fail(FailureKind::kRuntime, std::move(message));
}

// What a parameter of each type was given, or `fallback` when it was given nothing. Fail for another type.
std::int64_t integerOr(const Value& value, std::int64_t fallback, std::string_view what);
bool truthOr(const Value& value, bool fallback);

}  // namespace tandem::jinja
