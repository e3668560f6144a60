// Fixed values of a JSON schema, enum and const, and whether they satisfy what else is asked.
#include <algorithm>

#include "engine/constraint/schema_compiler.h"
#include "engine/constraint/source_reader.h"

namespace tandem::constraint {
namespace {

// Whether two values are the same in whatever order their members stand, which == of ordered_json heeds.
bool isSame(const Json& a, const Json& b) {
  if (a.size() != b.size()) return false;
  if (a.is_array() && b.is_array()) return std::equal(a.begin(), a.end(), b.begin(), isSame);
  if (!a.is_object() || !b.is_object()) return a == b;
  auto beside = b.begin();
  for (auto member = a.begin(); member != a.end(); ++member, ++beside) {
    const auto found = beside.key() == member.key() ? beside : b.find(member.key());
    if (found == b.end() || !isSame(*member, *found)) return false;
  }
  return true;
}

template <class List>
bool isListed(const Json& value, const List& list) {
  return std::any_of(list.begin(), list.end(), [&](const Json& listed) { return isSame(listed, value); });
}

// The remainder of a whole number, digit by digit.
int remainder(const std::string& digits, int divisor) {
  int rest = 0;
  for (const char digit : digits)
    rest = (10 * rest + (digit - '0')) % divisor;
  return rest;
}

}  // namespace

// The values that an enum or a const leaves; nothing where the schema has neither.
std::optional<std::vector<Json>> SchemaCompiler::valuesOf(const Conjunction& flat) {
  std::vector<Json> candidates, values;
  bool listed = false;
  for (const Json* schema : flat) {
    if (schema->contains("const")) {
      candidates = {(*schema)["const"]};
    } else if (schema->contains("enum")) {
      candidates.assign((*schema)["enum"].begin(), (*schema)["enum"].end());
    } else {
      continue;
    }
    listed = true;
    break;
  }
  if (!listed) return std::nullopt;
  for (const Json& value : candidates) {
    builder_.budget().spend(values.size() + 1);
    if (!isListed(value, values) && holdsFlat(value, flat)) values.push_back(value);
  }
  return values;
}

int SchemaCompiler::valuesNode(const std::vector<Json>& values) {
  std::vector<int> alternatives;
  std::vector<std::vector<char32_t>> texts;
  for (const Json& value : values) {
    if (value.is_string()) {
      texts.push_back(codePoints(value.get<std::string>(), ""));
    } else {
      alternatives.push_back(parts_.value(value));
    }
  }
  if (!texts.empty()) alternatives.push_back(parts_.stringOf(literalDfa(texts, builder_.budget())));
  return builder_.choice(std::move(alternatives));
}

bool SchemaCompiler::holds(const Json& value, const Conjunction& conjunction) {
  if (conjunction.empty()) return true;
  const std::vector<Conjunction> flats = flatten(conjunction);
  return std::any_of(flats.begin(), flats.end(),
                     [&](const Conjunction& flat) { return holdsFlat(value, flat); });
}

bool SchemaCompiler::holdsFlat(const Json& value, const Conjunction& flat) {
  builder_.budget().spend(flat.size());
  if ((typesOf(flat) & typeBitOfValue(value)) == 0) return false;
  for (const Json* schema : flat) {
    if (schema->contains("const") && !isSame((*schema)["const"], value)) return false;
    if (schema->contains("enum") && !isListed(value, (*schema)["enum"])) return false;
  }
  if (value.is_number()) {
    const NumberRules rules = numberRules(flat);
    const Decimal number = decimalOf(value, "");
    return rules.range.contains(number) &&
           std::all_of(rules.divisors.begin(), rules.divisors.end(), [&](int divisor) {
             return number.fraction.empty() && remainder(number.whole, divisor) == 0;
           });
  }
  if (value.is_string()) {
    const StringRules rules = stringRules(flat);
    const std::vector<char32_t> text = codePoints(value.get<std::string>(), "");
    const int length = static_cast<int>(text.size());
    return length >= rules.min && (rules.max == kUnbounded || length <= rules.max) &&
           (!rules.form || rules.form->matches(text));
  }
  return !value.is_structured() || membersHold(value, flat);
}

bool SchemaCompiler::membersHold(const Json& value, const Conjunction& flat) {
  const auto [min, max] = value.is_array() ? countBounds(flat, "minItems", "maxItems")
                                           : countBounds(flat, "minProperties", "maxProperties");
  const int count = static_cast<int>(value.size());
  if (count < min || (max != kUnbounded && count > max)) return false;
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      const Part part = itemPart(flat, i);
      if (!part || !holds(value[i], *part)) return false;
    }
    return true;
  }
  const Names names = namesOf(flat);
  const std::optional<CharDfa> allowed = nameRules(flat);
  for (const std::string& name : names.required) {
    if (!value.contains(name)) return false;
  }
  for (const auto& [name, member] : value.items()) {
    const Part part = memberPart(flat, name);
    if (!part || !holds(member, *part)) return false;
    if (allowed && !allowed->matches(codePoints(name, ""))) return false;
  }
  return true;
}

}  // namespace tandem::constraint
