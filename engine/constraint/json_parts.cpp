#include "engine/constraint/json_parts.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/constraint/regex_parser.h"
#include "engine/constraint/source_reader.h"

namespace tandem::constraint {
namespace {

using Json = nlohmann::ordered_json;

// Digits enough for every double, exponents that no double overflows at, integers of 64 bits.
constexpr const char* kInteger = "-?(?:0|[1-9][0-9]{0,17})";
constexpr const char* kNumber =
    "-?(?:0|[1-9][0-9]{0,17})(?:\\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,2})?|"
    "-?[0-9](?:\\.[0-9]{1,20})?[eE][+-]?(?:1[0-9]{2}|2[0-9]{2}|30[0-7])|"
    "-?1(?:\\.[0-6][0-9]{0,19})?[eE][+-]?308";

bool isPlainAscii(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\' && c != '/'; });
}

}  // namespace

CharDfa regexDfa(const std::string& text, const std::string& field, Match match, Budget& budget) {
  ExpressionPool pool;
  const int expression = parseRegex(text, field, pool);
  return buildCharDfa(pool, expression, match, budget);
}

JsonParts::JsonParts(GrammarBuilder& builder) : builder_(builder) {
  const int space = builder.whiteSpace();
  colon_ = builder.sequence({space, builder.literal(":"), space});
  separator_ = builder.sequence({space, builder.literal(","), space});
  string_ = stringOf(lengthDfa(0, kUnbounded, builder.budget()), Escapes::kAll);
  number_ = regex(kNumber);
  integer_ = regex(kInteger);
  boolean_ = builder.choice({builder.literal("true"), builder.literal("false")});
  null_ = builder.literal("null");
}

int JsonParts::stringOf(const CharDfa& dfa, Escapes escapes) {
  return builder_.dfa(jsonString(dfa, escapes, builder_.alphabet(), builder_.budget()));
}

int JsonParts::regex(const std::string& text) {
  Budget& budget = builder_.budget();
  return builder_.dfa(plainText(regexDfa(text, "", Match::kWhole, budget), builder_.alphabet(), budget));
}

int JsonParts::anyValue() {
  if (anyValue_ == -1) {
    anyValue_ = builder_.newRule();
    builder_.define(anyValue_, builder_.choice({anyObject(), anyArray(), string_, number_, boolean_, null_}));
  }
  return builder_.call(anyValue_);
}

int JsonParts::anyObject() {
  if (anyObject_ == -1) {
    const int value = anyValue();
    if (anyObject_ == -1) anyObject_ = object({.others = {property(string_, value)}});
  }
  return anyObject_;
}

int JsonParts::anyArray() {
  if (anyArray_ == -1) {
    const int value = anyValue();
    if (anyArray_ == -1) anyArray_ = array({}, value, 0, -1);
  }
  return anyArray_;
}

int JsonParts::key(const std::string& name) {
  if (isPlainAscii(name)) return builder_.literal('"' + name + '"');
  return stringOf(literalDfa({codePoints(name, "")}, builder_.budget()));
}

ObjectRule::Property JsonParts::property(int key, int value, bool required) {
  return {key, builder_.sequence({colon_, value}), required};
}

int JsonParts::object(ObjectRule rule) {
  return builder_.sequence({builder_.literal("{"), builder_.object(std::move(rule))});
}

int JsonParts::array(const std::vector<int>& first, int rest, int min, int max) {
  const int fixed = static_cast<int>(first.size());
  if (rest == -1) max = max == -1 ? fixed : std::min(max, fixed);
  if (max != -1 && min > max) return builder_.never();
  // From the last value to the first: what may follow the first i values.
  const int usable = max == -1 ? fixed : std::min(fixed, max);
  int behind = builder_.empty();
  if (rest != -1 && usable == fixed) {
    const int more = builder_.sequence({separator_, rest});
    const int atLeast = std::max(min - fixed, 0);
    const int atMost = max == -1 ? -1 : max - fixed;
    if (fixed > 0) {
      behind = builder_.repeat(more, atLeast, atMost);
    } else if (atMost != 0) {
      const int others = builder_.repeat(more, std::max(atLeast - 1, 0), atMost == -1 ? -1 : atMost - 1);
      behind = builder_.sequence({rest, others});
      if (min == 0) behind = builder_.optional(behind);
    }
  }
  for (int i = usable - 1; i >= 0; --i) {
    const int value = first[static_cast<std::size_t>(i)];
    behind = builder_.sequence({i > 0 ? separator_ : builder_.empty(), value, behind});
    if (i >= min) behind = builder_.optional(behind);
  }
  return builder_.sequence(
      {builder_.literal("["), builder_.whiteSpace(), behind, builder_.whiteSpace(), builder_.literal("]")});
}

int JsonParts::value(const Json& value) {
  if (value.is_string()) return key(value.get<std::string>());
  if (value.is_array()) {
    std::vector<int> items;
    for (const Json& item : value)
      items.push_back(this->value(item));
    const int count = static_cast<int>(items.size());
    return array(items, -1, count, count);
  }
  if (value.is_object()) {
    ObjectRule rule;
    for (const auto& [name, member] : value.items())
      rule.properties.push_back(property(key(name), this->value(member), true));
    return object(std::move(rule));
  }
  return builder_.literal(value.dump());
}

}  // namespace tandem::constraint
