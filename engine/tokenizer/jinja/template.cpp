#include "engine/tokenizer/jinja/template.h"

#include <exception>

#include "engine/tokenizer/jinja/host_json.h"
#include "engine/tokenizer/jinja/interpreter.h"
#include "engine/tokenizer/jinja/parser.h"
#include "engine/tokenizer/jinja/scope.h"

namespace tandem::jinja {
namespace {

const Dict& makeVariables(Runtime& runtime, const Variables& variables) {
  auto* all = runtime.arena.make<Dict>();
  for (const auto& [name, value] : variables.data->items()) {
    all->set(runtime.budget, runtime.data(name), fromJson(runtime, value));
  }
  for (const auto& [name, text] : variables.markers) {
    all->set(runtime.budget, runtime.data(name), runtime.arena.string(text, true));
  }
  return *all;
}

// The exceptions that leave the standard library are all about memory here: allocation, and sizes beyond
// reason.
Failure outOfMemory() {
  return {FailureKind::kBudget, "it needs more memory than there is", 0};
}

}  // namespace

std::variant<Template, Failure> Template::parse(std::string_view source) {
  try {
    std::unique_ptr<Program> program = parseTemplate(source);
    resolveScopes(*program);
    return Template(std::shared_ptr<const Program>(std::move(program)));
  } catch (const FailureException& exception) {
    return exception.failure;
  } catch (const std::exception&) {
    return outOfMemory();
  }
}

std::variant<TaggedText, Failure> Template::render(const Variables& variables) const {
  int line = 0;
  try {
    Runtime runtime(sizeOf(*variables.data), variables.clock ? variables.clock : localTime);
    Interpreter interpreter(runtime, *program_, makeVariables(runtime, variables));
    try {
      return interpreter.run();
    } catch (const FailureException&) {
      line = interpreter.line();
      throw;
    }
  } catch (const FailureException& exception) {
    Failure failure = exception.failure;
    if (failure.line == 0) failure.line = line;
    return failure;
  } catch (const std::exception&) {
    return outOfMemory();
  }
}

}  // namespace tandem::jinja
