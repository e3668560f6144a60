#include "engine/constraint/compile.h"

#include <algorithm>

#include "engine/constraint/grammar_parser.h"
#include "engine/constraint/json_parts.h"
#include "engine/constraint/lower.h"
#include "engine/constraint/schema_compiler.h"
#include "engine/constraint/source_reader.h"

namespace tandem::constraint {
namespace {

int regexNode(const ConstraintSpec& spec, GrammarBuilder& builder) {
  const CharDfa dfa = regexDfa(spec.text, "regex", Match::kWhole, builder.budget());
  return builder.dfa(plainText(dfa, builder.alphabet(), builder.budget()));
}

int choiceNode(const ConstraintSpec& spec, GrammarBuilder& builder) {
  std::vector<std::vector<char32_t>> texts;
  std::size_t bytes = 0;
  for (const std::string& choice : spec.choices) {
    bytes += choice.size();
    if (bytes > kMaxSourceBytes) Budget::overrun("The choices are longer than 1 MiB", "choice");
    texts.push_back(codePoints(choice, "choice"));
  }
  if (texts.empty()) refuse("There is nothing to choose from.", "choice");
  return builder.dfa(plainText(literalDfa(texts, builder.budget()), builder.alphabet(), builder.budget()));
}

int schemaNode(const ConstraintSpec& spec, GrammarBuilder& builder) {
  JsonParts parts(builder);
  SchemaDocument document(parseJson(spec.text, "json_schema"), "json_schema");
  const int value = SchemaCompiler(document, builder, parts).compile();
  return builder.sequence({builder.whiteSpace(), value});
}

int objectNode(GrammarBuilder& builder) {
  JsonParts parts(builder);
  return builder.sequence({builder.whiteSpace(), parts.anyObject()});
}

int grammarNode(const ConstraintSpec& spec, GrammarBuilder& builder) {
  const ParsedGrammar grammar = parseGrammar(spec.text);
  return lowerRules(grammar.pool, grammar.rules, grammar.root, builder);
}

// One tool as {"name", "parameters"} or, as clients send it, inside {"type": "function", "function": …}.
const Json& toolOf(const Json& entry, const std::string& where) {
  const Json* tool = &entry;
  if (entry.is_object() && entry.contains("function")) tool = &entry["function"];
  const bool named = tool->is_object() && tool->contains("name") && (*tool)["name"].is_string();
  if (!named || (*tool)["name"].get_ref<const std::string&>().empty())
    refuse("A tool must be an object with a name.", where);
  return *tool;
}

int toolNode(const ConstraintSpec& spec, GrammarBuilder& builder) {
  const Json tools = parseJson(spec.text, "tools");
  if (!tools.is_array() || tools.empty()) refuse("The tools must be a list with at least one tool.", "tools");
  if (spec.maxCalls < 1) refuse("An answer of tool calls has at least one call.", "max_calls");
  JsonParts parts(builder);
  std::vector<int> calls;
  for (std::size_t i = 0; i < tools.size(); ++i) {
    const std::string where = "tools/" + std::to_string(i);
    const Json& tool = toolOf(tools[i], where);
    const std::string name = tool["name"].get<std::string>();
    if (!spec.tool.empty() && name != spec.tool) continue;
    const bool described = tool.contains("parameters") && !tool["parameters"].is_null();
    SchemaDocument document(described ? tool["parameters"] : Json({{"type", "object"}, {"maxProperties", 0}}),
                            where + "/parameters");
    const int arguments = SchemaCompiler(document, builder, parts).compile(true);
    calls.push_back(
        builder.sequence({builder.literal(Json(name).dump(-1, ' ', false, Json::error_handler_t::replace)),
                          builder.literal(spec.form.middle), arguments}));
  }
  if (calls.empty()) refuse("There is no tool called " + spec.tool + ".", "tool_choice");
  const int call = builder.sequence(
      {builder.literal(spec.form.begin), builder.choice(std::move(calls)), builder.literal(spec.form.end)});
  const int more = builder.sequence({builder.literal(spec.form.between), call});
  return builder.sequence({call, builder.repeat(more, 0, spec.maxCalls - 1)});
}

}  // namespace

const char* fieldOf(const ConstraintSpec& spec) {
  switch (spec.kind) {
    case ConstraintSpec::Kind::kNone:
      return "";
    case ConstraintSpec::Kind::kJsonObject:
      return "json";
    case ConstraintSpec::Kind::kJsonSchema:
      return "json_schema";
    case ConstraintSpec::Kind::kRegex:
      return "regex";
    case ConstraintSpec::Kind::kChoice:
      return "choice";
    case ConstraintSpec::Kind::kGrammar:
      return "grammar";
    case ConstraintSpec::Kind::kToolCalls:
      return "tools";
  }
  return "";
}

Grammar compileGrammar(const ConstraintSpec& spec, const ByteAlphabet& alphabet) {
  GrammarBuilder builder(alphabet);
  switch (spec.kind) {
    case ConstraintSpec::Kind::kNone:
      break;
    case ConstraintSpec::Kind::kJsonObject:
      return builder.finish(objectNode(builder));
    case ConstraintSpec::Kind::kJsonSchema:
      return builder.finish(schemaNode(spec, builder));
    case ConstraintSpec::Kind::kRegex:
      return builder.finish(regexNode(spec, builder));
    case ConstraintSpec::Kind::kChoice:
      return builder.finish(choiceNode(spec, builder));
    case ConstraintSpec::Kind::kGrammar:
      return builder.finish(grammarNode(spec, builder));
    case ConstraintSpec::Kind::kToolCalls:
      return builder.finish(toolNode(spec, builder));
  }
  refuse("There is no constraint to prepare.");
}

}  // namespace tandem::constraint
