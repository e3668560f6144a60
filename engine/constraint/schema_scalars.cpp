// Strings and numbers of a JSON schema.
#include <algorithm>

#include "engine/constraint/formats.h"
#include "engine/constraint/schema_compiler.h"

namespace tandem::constraint {
namespace {

constexpr int kMaxDivisor = 10'000;

int countOf(const Json& value) {
  return static_cast<int>(value.get<double>());
}

void join(std::optional<CharDfa>& form, const CharDfa& other, Budget& budget) {
  form = form ? intersect(*form, other, budget) : other;
}

}  // namespace

const CharDfa& SchemaCompiler::patternDfa(const std::string& pattern, const std::string& where) {
  const auto at = patterns_.find(pattern);
  if (at != patterns_.end()) return at->second;
  return patterns_.emplace(pattern, regexDfa(pattern, where, Match::kAnywhere, builder_.budget()))
      .first->second;
}

void SchemaCompiler::addFormat(const Json& schema, StringRules& rules) {
  const std::string& name = schema["format"].get_ref<const std::string&>();
  std::string regex;
  switch (findFormat(name, regex)) {
    case FormatKind::kEnforced:
      join(rules.form, regexDfa(regex, "", Match::kWhole, builder_.budget()), builder_.budget());
      return;
    case FormatKind::kNotHandled:
      throw Failure{{ErrorCode::kUnsupported, "The format " + name + " is not supported.",
                     document_.whereIs(schema, "format")}};
    case FormatKind::kUnknown:
      return;
  }
}

SchemaCompiler::StringRules SchemaCompiler::stringRules(const Conjunction& flat) {
  StringRules rules;
  for (const Json* schema : flat) {
    if (schema->contains("minLength")) rules.min = std::max(rules.min, countOf((*schema)["minLength"]));
    if (schema->contains("maxLength")) {
      const int max = countOf((*schema)["maxLength"]);
      rules.max = rules.max == kUnbounded ? max : std::min(rules.max, max);
    }
    if (schema->contains("pattern")) {
      const std::string pattern = (*schema)["pattern"].get<std::string>();
      join(rules.form, patternDfa(pattern, document_.whereIs(*schema, "pattern")), builder_.budget());
    }
    if (schema->contains("format")) addFormat(*schema, rules);
  }
  return rules;
}

CharDfa SchemaCompiler::withLength(const StringRules& rules) {
  const bool any = rules.min == 0 && rules.max == kUnbounded;
  if (rules.form && any) return *rules.form;
  const CharDfa length = lengthDfa(rules.min, rules.max, builder_.budget());
  return rules.form ? intersect(*rules.form, length, builder_.budget()) : length;
}

int SchemaCompiler::stringNode(const Conjunction& flat) {
  const StringRules rules = stringRules(flat);
  if (rules.any()) return parts_.anyString();
  if (rules.max != kUnbounded && rules.max < rules.min) return builder_.never();
  if (!rules.form) return builder_.string(rules.min, rules.max);
  return parts_.stringOf(withLength(rules));
}

int SchemaCompiler::divisorOf(const Json& schema) {
  const std::string where = document_.whereIs(schema, "multipleOf");
  const Decimal divisor = decimalOf(schema["multipleOf"], where);
  if (divisor.negative || divisor.isZero()) refuse("The keyword multipleOf must be greater than 0.", where);
  if (!divisor.fraction.empty() || divisor.whole.size() > 5 || std::stoi(divisor.whole) > kMaxDivisor) {
    throw Failure{
        {ErrorCode::kUnsupported,
         "The keyword multipleOf is supported for whole numbers up to " + std::to_string(kMaxDivisor) + ".",
         where}};
  }
  return std::stoi(divisor.whole);
}

SchemaCompiler::NumberRules SchemaCompiler::numberRules(const Conjunction& flat) {
  NumberRules rules;
  const auto raise = [&](Bound bound) {
    const int order = rules.range.low ? compare(bound.value, rules.range.low->value) : 1;
    if (order > 0 || (order == 0 && bound.exclusive)) rules.range.low = std::move(bound);
  };
  const auto lower = [&](Bound bound) {
    const int order = rules.range.high ? compare(bound.value, rules.range.high->value) : -1;
    if (order < 0 || (order == 0 && bound.exclusive)) rules.range.high = std::move(bound);
  };
  for (const Json* schema : flat) {
    const auto value = [&](const char* keyword) {
      return decimalOf((*schema)[keyword], document_.whereIs(*schema, keyword));
    };
    if (schema->contains("minimum")) raise({value("minimum")});
    if (schema->contains("exclusiveMinimum")) raise({value("exclusiveMinimum"), true});
    if (schema->contains("maximum")) lower({value("maximum")});
    if (schema->contains("exclusiveMaximum")) lower({value("exclusiveMaximum"), true});
    if (schema->contains("multipleOf")) rules.divisors.push_back(divisorOf(*schema));
  }
  return rules;
}

int SchemaCompiler::numberNode(const Conjunction& flat, bool integersOnly) {
  const NumberRules rules = numberRules(flat);
  if (!rules.range.bounded() && rules.divisors.empty())
    return integersOnly ? parts_.anyInteger() : parts_.anyNumber();
  Budget& budget = builder_.budget();
  CharDfa dfa = rangeDfa(rules.range, integersOnly || !rules.divisors.empty(), budget);
  for (const int divisor : rules.divisors)
    dfa = intersect(dfa, multiplesDfa(divisor, budget), budget);
  return builder_.dfa(plainText(dfa, builder_.alphabet(), budget));
}

}  // namespace tandem::constraint
