// What the tests of chat templates share: the test data, a fixed date, and renders in few words.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/tokenizer/chat_template.h"
#include "engine/tokenizer/jinja/template.h"

namespace tandem::test {

using Json = nlohmann::ordered_json;

// 26 July 2024, 15:04:05.123456.
jinja::CivilTime fixedTime();

// tests/data/jinja/NAME; a null value when it cannot be read.
Json readJinjaJson(const std::string& name);

struct NamedSource {
  std::string name;
  std::string source;
};
// tests/data/jinja/templates, by name.
std::vector<NamedSource> readTemplates();
// The template of the SmolLM2 model; empty when the model is not there.
std::string modelTemplate();

// Renders `source` with `variables`, bos_token "<s>" and eos_token "</s>".
using Rendered = std::variant<TaggedText, jinja::Failure>;
Rendered renderSource(std::string_view source, const Json& variables);

// A request in the form of tests/data/jinja/conversations.json.
ChatRequest requestOf(const Json& conversation);

// "syntax", "undefined", ... as in expected.json.
std::string kindName(jinja::FailureKind kind);
// For messages of failed tests: the text or the failure.
std::string describe(const Rendered& rendered);

// One letter for each byte: T from the template, d data.
std::string originsOf(const TaggedText& text);

// Whether CPU time lies below a bound of a core of 2.7 GHz that nobody slows; a slower or a busy machine, a
// debug build and sanitizers get as much more as a fixed piece of work takes longer there now.
bool inTime(double seconds, double bound);
// CPU time of this thread, which other programs hardly change.
double threadSeconds();

}  // namespace tandem::test
