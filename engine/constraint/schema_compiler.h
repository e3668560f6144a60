// From a JSON schema to grammar nodes.
//
// What a value must satisfy is a conjunction: a set of subschemas that all hold. References and allOf add to
// it, anyOf and oneOf split it into alternatives, and what is left of each alternative is a flat conjunction,
// whose keywords are joined by type. Each conjunction becomes one rule, so a recursive schema becomes
// recursive rules.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/constraint/decimal.h"
#include "engine/constraint/json_parts.h"
#include "engine/constraint/schema_document.h"

namespace tandem::constraint {

class SchemaCompiler {
 public:
  SchemaCompiler(SchemaDocument& document, GrammarBuilder& builder, JsonParts& parts)
      : document_(document), builder_(builder), parts_(parts) {}

  // The node of the whole schema. With `onlyObjects` other values are left out.
  int compile(bool onlyObjects = false);

 private:
  using Conjunction = std::vector<const Json*>;  // objects and flags, in the document's order
  // Of a member or item: what holds for it, or nothing where none may stand there.
  using Part = std::optional<Conjunction>;
  struct StringRules {
    int min = 0;
    int max = kUnbounded;
    std::optional<CharDfa> form = {};  // patterns and formats joined

    bool any() const { return min == 0 && max == kUnbounded && !form; }
  };
  struct NumberRules {
    NumberRange range = {};
    std::vector<int> divisors = {};
  };
  // Of objects: the names that are spelled out, in order.
  struct Names {
    std::vector<std::string> all;
    std::unordered_set<std::string> known;
    std::unordered_set<std::string> required;
  };

  // schema_compiler.cpp
  int ruleFor(Conjunction conjunction);
  int callFor(const Conjunction& conjunction);
  void compileRules();
  std::vector<Conjunction> flatten(const Conjunction& conjunction);
  void splitAlternatives(const Json& schema, const Json& branches, const Conjunction& pending,
                         const Conjunction& flat, std::vector<std::pair<Conjunction, Conjunction>>& work);
  const Json& oneOfAlone(const Json& schema);
  void noteOneOf(const Json& schema);
  void checkOneOfs();
  int flatNode(const Conjunction& flat);
  unsigned typesOf(const Conjunction& flat) const;

  // schema_scalars.cpp
  StringRules stringRules(const Conjunction& flat);
  int stringNode(const Conjunction& flat);
  CharDfa withLength(const StringRules& rules);
  NumberRules numberRules(const Conjunction& flat);
  int numberNode(const Conjunction& flat, bool integersOnly);
  const CharDfa& patternDfa(const std::string& pattern, const std::string& where);
  void addFormat(const Json& schema, StringRules& rules);
  int divisorOf(const Json& schema);

  // schema_containers.cpp
  int arrayNode(const Conjunction& flat);
  int objectNode(const Conjunction& flat);
  std::pair<int, int> countBounds(const Conjunction& flat, const char* min, const char* max) const;
  Part itemPart(const Conjunction& flat, std::size_t index) const;
  Part memberPart(const Conjunction& flat, const std::string& name);
  Names namesOf(const Conjunction& flat) const;
  std::optional<CharDfa> nameRules(const Conjunction& flat);
  std::vector<ObjectRule::Property> otherMembers(const Conjunction& flat, const Names& names,
                                                 const std::optional<CharDfa>& allowed);
  std::vector<std::string> patternsOf(const Conjunction& flat) const;
  Part otherPart(const Conjunction& flat, const std::vector<std::string>& patterns, unsigned matching) const;

  // schema_values.cpp
  std::optional<std::vector<Json>> valuesOf(const Conjunction& flat);
  int valuesNode(const std::vector<Json>& values);
  bool holds(const Json& value, const Conjunction& conjunction);
  bool holdsFlat(const Json& value, const Conjunction& flat);
  bool membersHold(const Json& value, const Conjunction& flat);

  // Adds a subschema to a part; a flag `false` takes everything away.
  void addTo(Part& part, const Json& schema) const;
  void insertInOrder(Conjunction& conjunction, const Json* schema) const;

  SchemaDocument& document_;
  GrammarBuilder& builder_;
  JsonParts& parts_;
  std::map<Conjunction, int> rules_;
  std::vector<const Conjunction*> pending_;  // keys of rules_ whose rule is not defined yet
  std::map<std::string, CharDfa> patterns_;
  struct OneOfPair {
    const Json* schema;
    std::size_t first, second;
    int rule;  // of values that both branches allow
  };
  std::vector<OneOfPair> oneOfPairs_;
  std::unordered_set<const Json*> notedOneOfs_;
  std::unordered_map<const Json*, const Json*> onesAlone_;  // by the schema that they are copied from
};

// Types of JSON values; a number is an integer or has a fraction.
enum TypeBit : unsigned {
  kNullType = 1,
  kBooleanType = 2,
  kIntegerType = 4,
  kFractionType = 8,
  kStringType = 16,
  kArrayType = 32,
  kObjectType = 64,
  kAnyType = 127,
};
unsigned typeBitsOf(const Json& type);
unsigned typeBitOfValue(const Json& value);

}  // namespace tandem::constraint
