// What a request asks its answer to be: plain data, part of a Generation. What each kind means and refuses:
// docs/structured-output.md.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tandem {

// How a model writes tool calls: begin, name as a JSON string, middle, arguments as a JSON object, end.
// Several calls are joined with `between`.
struct ToolCallForm {
  std::string begin = "<tool_call>\n{\"name\": ";
  std::string middle = ", \"arguments\": ";
  std::string end = "}\n</tool_call>";
  std::string between = "\n";

  bool operator==(const ToolCallForm&) const = default;
};

struct ConstraintSpec {
  enum class Kind : std::uint8_t {
    kNone,
    kJsonObject,  // any JSON object
    kJsonSchema,  // text: a JSON schema
    kRegex,       // text: a regular expression that the whole answer matches
    kChoice,      // one of `choices`
    kGrammar,     // text: a grammar in GBNF, whose rule `root` the answer matches
    kToolCalls,   // text: a JSON list of tools; the answer is a call of one of them, or of several
  };
  Kind kind = Kind::kNone;
  std::string text = {};
  std::vector<std::string> choices = {};
  // kToolCalls
  std::string tool = {};  // the tool that must be called; empty: any
  int maxCalls = 1;       // calls in one answer, at least 1
  ToolCallForm form = {};

  bool operator==(const ConstraintSpec&) const = default;

  static ConstraintSpec jsonObject() { return {.kind = Kind::kJsonObject}; }
  static ConstraintSpec jsonSchema(std::string schema) {
    return {.kind = Kind::kJsonSchema, .text = std::move(schema)};
  }
  static ConstraintSpec regex(std::string text) { return {.kind = Kind::kRegex, .text = std::move(text)}; }
  static ConstraintSpec choice(std::vector<std::string> choices) {
    return {.kind = Kind::kChoice, .choices = std::move(choices)};
  }
  static ConstraintSpec grammar(std::string text) {
    return {.kind = Kind::kGrammar, .text = std::move(text)};
  }
};

}  // namespace tandem
