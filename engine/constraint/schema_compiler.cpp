#include "engine/constraint/schema_compiler.h"

#include <algorithm>

namespace tandem::constraint {
namespace {

constexpr std::size_t kMaxAlternatives = 256;  // of one conjunction

}  // namespace

unsigned typeBitsOf(const Json& type) {
  if (type.is_array()) {
    unsigned bits = 0;
    for (const Json& one : type)
      bits |= typeBitsOf(one);
    return bits;
  }
  const std::string& name = type.get_ref<const std::string&>();
  if (name == "null") return kNullType;
  if (name == "boolean") return kBooleanType;
  if (name == "integer") return kIntegerType;
  if (name == "number") return kIntegerType | kFractionType;
  if (name == "string") return kStringType;
  return name == "array" ? kArrayType : kObjectType;
}

unsigned typeBitOfValue(const Json& value) {
  if (value.is_null()) return kNullType;
  if (value.is_boolean()) return kBooleanType;
  if (value.is_number_float() && !decimalOf(value, "").fraction.empty()) return kFractionType;
  if (value.is_number()) return kIntegerType;
  if (value.is_string()) return kStringType;
  return value.is_array() ? kArrayType : kObjectType;
}

int SchemaCompiler::compile(bool onlyObjects) {
  Part whole{Conjunction{}};
  addTo(whole, document_.root());
  if (onlyObjects) addTo(whole, document_.adopt({{"type", "object"}}, document_.root()));
  if (!whole) return builder_.never();
  if (whole->empty()) return parts_.anyValue();
  const int root = ruleFor(*whole);
  compileRules();
  checkOneOfs();
  return builder_.call(root);
}

// Rules are defined one after the other, not inside each other, so that no schema is too deep for the stack.
void SchemaCompiler::compileRules() {
  while (!pending_.empty()) {
    const Conjunction& conjunction = *pending_.back();
    pending_.pop_back();
    std::vector<int> alternatives;
    for (const Conjunction& flat : flatten(conjunction))
      alternatives.push_back(flatNode(flat));
    builder_.define(rules_.at(conjunction), builder_.choice(std::move(alternatives)));
  }
}

int SchemaCompiler::ruleFor(Conjunction conjunction) {
  const auto [at, isNew] = rules_.try_emplace(std::move(conjunction), 0);
  if (isNew) {
    at->second = builder_.newRule();
    pending_.push_back(&at->first);
    builder_.budget().spend(at->first.size() * 16);
  }
  return at->second;
}

int SchemaCompiler::callFor(const Conjunction& conjunction) {
  return conjunction.empty() ? parts_.anyValue() : builder_.call(ruleFor(conjunction));
}

void SchemaCompiler::addTo(Part& part, const Json& schema) const {
  if (!part || (schema.is_boolean() && schema.get<bool>())) return;
  if (schema.is_boolean()) {
    part.reset();
  } else {
    insertInOrder(*part, &schema);
  }
}

void SchemaCompiler::insertInOrder(Conjunction& conjunction, const Json* schema) const {
  const auto before = [&](const Json* a, const Json* b) { return document_.isBefore(a, b); };
  const auto at = std::lower_bound(conjunction.begin(), conjunction.end(), schema, before);
  if (at == conjunction.end() || *at != schema) conjunction.insert(at, schema);
}

// The alternatives of a conjunction, without references, allOf, anyOf and oneOf.
std::vector<SchemaCompiler::Conjunction> SchemaCompiler::flatten(const Conjunction& conjunction) {
  std::vector<Conjunction> done;
  std::vector<std::pair<Conjunction, Conjunction>> work{{conjunction, {}}};  // to look at, looked at
  while (!work.empty()) {
    auto [pending, flat] = std::move(work.back());
    work.pop_back();
    bool whole = true;
    while (whole && !pending.empty()) {
      const Json& schema = *pending.back();
      pending.pop_back();
      builder_.budget().spend(1);
      if (schema.is_boolean()) {
        whole = schema.get<bool>();
        continue;
      }
      if (std::find(flat.begin(), flat.end(), &schema) != flat.end()) continue;
      document_.check(schema);
      insertInOrder(flat, &schema);
      if (schema.contains("$ref")) pending.push_back(&document_.resolve(schema));
      if (schema.contains("allOf")) {
        for (const Json& part : schema["allOf"])
          pending.push_back(&part);
      }
      const bool any = schema.contains("anyOf"), one = schema.contains("oneOf");
      if (one) noteOneOf(schema);
      if (any && one) pending.push_back(&oneOfAlone(schema));  // both split: the one now, the other then
      if (any || one) {
        splitAlternatives(schema, any ? schema["anyOf"] : schema["oneOf"], pending, flat, work);
        whole = false;
      }
    }
    if (whole) done.push_back(std::move(flat));
    if (done.size() + work.size() > kMaxAlternatives)
      Budget::overrun("Its anyOf and oneOf have too many combinations",
                      document_.whereIs(*conjunction.front()));
  }
  return done;
}

void SchemaCompiler::splitAlternatives(const Json& schema, const Json& branches, const Conjunction& pending,
                                       const Conjunction& flat,
                                       std::vector<std::pair<Conjunction, Conjunction>>& work) {
  if (work.size() + branches.size() > kMaxAlternatives)
    Budget::overrun("Its anyOf and oneOf have too many combinations", document_.whereIs(schema));
  for (auto branch = branches.rbegin(); branch != branches.rend(); ++branch) {
    work.emplace_back(pending, flat);
    work.back().first.push_back(&*branch);
    builder_.budget().spend(pending.size() + flat.size() + 1);
  }
}

// A copy of the schema that has its oneOf and nothing else: the same one each time, so that a schema that
// refers to itself ends. Its branches are compared where they stand.
const Json& SchemaCompiler::oneOfAlone(const Json& schema) {
  const auto [at, isNew] = onesAlone_.try_emplace(&schema, nullptr);
  if (isNew) {
    at->second = &document_.adopt({{"oneOf", schema["oneOf"]}}, schema);
    notedOneOfs_.insert(at->second);
  }
  return *at->second;
}

// oneOf is written as anyOf; that is right when no value satisfies two branches, which checkOneOfs looks
// into.
void SchemaCompiler::noteOneOf(const Json& schema) {
  if (!notedOneOfs_.insert(&schema).second) return;
  Json rest = schema;
  for (const char* keyword : {"oneOf", "anyOf", "allOf", "$ref", "$defs", "definitions", "$id", "$anchor"})
    rest.erase(keyword);
  Part around{Conjunction{}};
  if (!rest.empty()) addTo(around, document_.adopt(std::move(rest), schema));
  const Json& branches = schema["oneOf"];
  for (std::size_t i = 0; i < branches.size(); ++i) {
    for (std::size_t j = i + 1; j < branches.size(); ++j) {
      Part both = around;
      addTo(both, branches[i]);
      addTo(both, branches[j]);
      if (both) oneOfPairs_.push_back({&schema, i, j, ruleFor(*both)});
    }
  }
}

void SchemaCompiler::checkOneOfs() {
  for (const OneOfPair& pair : oneOfPairs_) {
    if (builder_.needOf(pair.rule) == Grammar::kNever) continue;
    throw Failure{{ErrorCode::kUnsupported,
                   "A value may satisfy the branches " + std::to_string(pair.first) + " and " +
                       std::to_string(pair.second) +
                       " of oneOf both; make them exclude each other, or use anyOf.",
                   document_.whereIs(*pair.schema, "oneOf")}};
  }
}

unsigned SchemaCompiler::typesOf(const Conjunction& flat) const {
  unsigned types = kAnyType;
  for (const Json* schema : flat) {
    const auto type = schema->find("type");
    if (type != schema->end()) types &= typeBitsOf(*type);
  }
  return types;
}

int SchemaCompiler::flatNode(const Conjunction& flat) {
  if (const std::optional<std::vector<Json>> values = valuesOf(flat)) return valuesNode(*values);
  const unsigned types = typesOf(flat);
  std::vector<int> alternatives;
  if ((types & kObjectType) != 0) alternatives.push_back(objectNode(flat));
  if ((types & kArrayType) != 0) alternatives.push_back(arrayNode(flat));
  if ((types & kStringType) != 0) alternatives.push_back(stringNode(flat));
  if ((types & kIntegerType) != 0) alternatives.push_back(numberNode(flat, (types & kFractionType) == 0));
  if ((types & kBooleanType) != 0) alternatives.push_back(parts_.boolean());
  if ((types & kNullType) != 0) alternatives.push_back(parts_.null());
  return builder_.choice(std::move(alternatives));
}

}  // namespace tandem::constraint
