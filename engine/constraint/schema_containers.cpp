// Arrays and objects of a JSON schema.
#include <algorithm>

#include "engine/constraint/schema_compiler.h"
#include "engine/constraint/source_reader.h"

namespace tandem::constraint {
namespace {

constexpr std::size_t kMaxNames = 1'000;   // of one object
constexpr std::size_t kMaxPatterns = 4;    // of patternProperties of one object
constexpr std::size_t kMaxPrefix = 1'000;  // of prefixItems

int countOf(const Json& value) {
  return static_cast<int>(value.get<double>());
}

}  // namespace

std::pair<int, int> SchemaCompiler::countBounds(const Conjunction& flat, const char* min,
                                                const char* max) const {
  int low = 0, high = kUnbounded;
  for (const Json* schema : flat) {
    if (schema->contains(min)) low = std::max(low, countOf((*schema)[min]));
    if (!schema->contains(max)) continue;
    const int count = countOf((*schema)[max]);
    high = high == kUnbounded ? count : std::min(high, count);
  }
  return {low, high};
}

// What holds for the item at an index; behind the longest prefix all items are alike.
SchemaCompiler::Part SchemaCompiler::itemPart(const Conjunction& flat, std::size_t index) const {
  Part part{Conjunction{}};
  for (const Json* schema : flat) {
    const auto prefix = schema->find("prefixItems");
    if (prefix != schema->end() && index < prefix->size()) {
      addTo(part, (*prefix)[index]);
    } else if (schema->contains("items")) {
      addTo(part, (*schema)["items"]);
    }
  }
  return part;
}

int SchemaCompiler::arrayNode(const Conjunction& flat) {
  const auto [min, max] = countBounds(flat, "minItems", "maxItems");
  std::size_t fixed = 0;
  bool plain = min == 0 && max == kUnbounded;
  for (const Json* schema : flat) {
    if (schema->contains("prefixItems")) fixed = std::max(fixed, (*schema)["prefixItems"].size());
    plain = plain && !schema->contains("items") && !schema->contains("prefixItems");
  }
  if (plain) return parts_.anyArray();
  if (fixed > kMaxPrefix) Budget::overrun("The prefixItems are too many", document_.whereIs(*flat.front()));
  std::vector<int> first;
  int rest = -1;
  for (std::size_t i = 0; i <= fixed; ++i) {
    const Part part = itemPart(flat, i);
    if (!part) break;
    const int node = callFor(*part);
    if (i < fixed) {
      first.push_back(node);
    } else {
      rest = node;
    }
  }
  return parts_.array(first, rest, min, max);
}

SchemaCompiler::Names SchemaCompiler::namesOf(const Conjunction& flat) const {
  Names names;
  const auto add = [&](const std::string& name) {
    if (names.known.insert(name).second) names.all.push_back(name);
  };
  for (const Json* schema : flat) {
    if (schema->contains("properties")) {
      for (const auto& [name, property] : (*schema)["properties"].items())
        add(name);
    }
    if (schema->contains("required")) {
      for (const Json& name : (*schema)["required"]) {
        add(name.get<std::string>());
        names.required.insert(name.get<std::string>());
      }
    }
  }
  if (names.all.size() > kMaxNames)
    Budget::overrun("An object has too many properties", document_.whereIs(*flat.front()));
  return names;
}

// What the schema says of the value of one name.
SchemaCompiler::Part SchemaCompiler::memberPart(const Conjunction& flat, const std::string& name) {
  Part part{Conjunction{}};
  for (const Json* schema : flat) {
    bool named = false;
    const auto properties = schema->find("properties");
    if (properties != schema->end() && properties->contains(name)) {
      addTo(part, (*properties)[name]);
      named = true;
    }
    const auto patterns = schema->find("patternProperties");
    if (patterns != schema->end()) {
      for (const auto& [pattern, property] : patterns->items()) {
        if (!patternDfa(pattern, document_.whereIs(*patterns, pattern)).matches(codePoints(name, "")))
          continue;
        addTo(part, property);
        named = true;
      }
    }
    if (!named && schema->contains("additionalProperties")) addTo(part, (*schema)["additionalProperties"]);
  }
  return part;
}

// The names that propertyNames allows; nothing where it says nothing.
std::optional<CharDfa> SchemaCompiler::nameRules(const Conjunction& flat) {
  Part part{Conjunction{}};
  const Json* asked = nullptr;
  for (const Json* schema : flat) {
    if (!schema->contains("propertyNames")) continue;
    asked = schema;
    addTo(part, (*schema)["propertyNames"]);
  }
  if (asked == nullptr) return std::nullopt;
  if (!part) return literalDfa({}, builder_.budget());
  const std::vector<Conjunction> flats = flatten(*part);
  if (flats.size() != 1) {
    throw Failure{{ErrorCode::kUnsupported, "The keyword propertyNames is not supported with alternatives.",
                   document_.whereIs(*asked, "propertyNames")}};
  }
  if ((typesOf(flats.front()) & kStringType) == 0) return literalDfa({}, builder_.budget());
  if (const std::optional<std::vector<Json>> values = valuesOf(flats.front())) {
    std::vector<std::vector<char32_t>> texts;
    for (const Json& value : *values) {
      if (value.is_string()) texts.push_back(codePoints(value.get<std::string>(), ""));
    }
    return literalDfa(texts, builder_.budget());
  }
  const StringRules rules = stringRules(flats.front());
  if (rules.max != kUnbounded && rules.max < rules.min) return literalDfa({}, builder_.budget());
  return withLength(rules);
}

std::vector<std::string> SchemaCompiler::patternsOf(const Conjunction& flat) const {
  std::vector<std::string> patterns;
  for (const Json* schema : flat) {
    const auto at = schema->find("patternProperties");
    if (at == schema->end()) continue;
    for (const auto& [pattern, property] : at->items()) {
      if (std::find(patterns.begin(), patterns.end(), pattern) == patterns.end()) patterns.push_back(pattern);
    }
    if (patterns.size() > kMaxPatterns)
      Budget::overrun("An object has too many patternProperties",
                      document_.whereIs(*schema, "patternProperties"));
  }
  return patterns;
}

// What holds for a name that no `properties` spells out and that matches just the patterns whose bits are
// set.
SchemaCompiler::Part SchemaCompiler::otherPart(const Conjunction& flat,
                                               const std::vector<std::string>& patterns,
                                               unsigned matching) const {
  Part part{Conjunction{}};
  for (const Json* schema : flat) {
    bool named = false;
    const auto own = schema->find("patternProperties");
    for (std::size_t i = 0; own != schema->end() && i < patterns.size(); ++i) {
      const auto property = own->find(patterns[i]);
      if (property == own->end() || (matching >> i & 1) == 0) continue;
      addTo(part, *property);
      named = true;
    }
    if (!named && schema->contains("additionalProperties")) addTo(part, (*schema)["additionalProperties"]);
  }
  return part;
}

std::vector<ObjectRule::Property> SchemaCompiler::otherMembers(const Conjunction& flat, const Names& names,
                                                               const std::optional<CharDfa>& allowed) {
  Budget& budget = builder_.budget();
  const std::vector<std::string> patterns = patternsOf(flat);
  std::optional<CharDfa> base = allowed;
  const auto join = [&](std::optional<CharDfa>& dfa, const CharDfa& other) {
    dfa = dfa ? intersect(*dfa, other, budget) : other;
  };
  if (!names.all.empty()) {
    std::vector<std::vector<char32_t>> texts;
    for (const std::string& name : names.all)
      texts.push_back(codePoints(name, ""));
    join(base, complement(literalDfa(texts, budget), budget));
  }
  std::vector<ObjectRule::Property> members;
  for (unsigned matching = 0; matching < 1u << patterns.size(); ++matching) {
    const Part part = otherPart(flat, patterns, matching);
    if (!part) continue;
    std::optional<CharDfa> keys = base;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      const CharDfa& pattern = patternDfa(patterns[i], document_.whereIs(*flat.front()));
      join(keys, (matching >> i & 1) != 0 ? pattern : complement(pattern, budget));
    }
    if (keys && keys->isEmpty()) continue;
    const int key = keys ? parts_.stringOf(*keys) : parts_.anyString();
    members.push_back(parts_.property(key, callFor(*part)));
  }
  return members;
}

int SchemaCompiler::objectNode(const Conjunction& flat) {
  const Names names = namesOf(flat);
  const std::optional<CharDfa> allowed = nameRules(flat);
  ObjectRule rule;
  for (const std::string& name : names.all) {
    const bool required = names.required.contains(name);
    const Part part = memberPart(flat, name);
    if (!part || (allowed && !allowed->matches(codePoints(name, "")))) {
      if (required) return builder_.never();
      continue;
    }
    rule.properties.push_back(parts_.property(parts_.value(name), callFor(*part), required));
  }
  rule.others = otherMembers(flat, names, allowed);
  std::tie(rule.min, rule.max) = countBounds(flat, "minProperties", "maxProperties");
  const int distinct = static_cast<int>(rule.properties.size()) + (rule.others.empty() ? 0 : 1);
  if (rule.min > distinct) {
    if (rule.others.empty()) return builder_.never();
    throw Failure{{ErrorCode::kUnsupported,
                   "The keyword minProperties asks for more properties than are spelled out and one other.",
                   document_.whereIs(*flat.front())}};
  }
  if (rule.max != kUnbounded && rule.max < rule.min) return builder_.never();
  return parts_.object(std::move(rule));
}

}  // namespace tandem::constraint
