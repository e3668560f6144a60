#include "engine/tokenizer/chat_template.h"

#include <exception>
#include <utility>
#include <variant>

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;
using jinja::Failure;
using jinja::FailureKind;

constexpr const char* kField = "tokenizer.chat_template";

std::string at(const Failure& failure) {
  return failure.line > 0 ? " (line " + std::to_string(failure.line) + " of the template)." : ".";
}

Error toError(const Failure& failure) {
  switch (failure.kind) {
    case FailureKind::kRaised: {
      const bool silent = failure.message.empty();
      return {ErrorCode::kTemplate, silent ? "The chat template refuses this conversation." : failure.message,
              kField};
    }
    case FailureKind::kBudget:
      return {ErrorCode::kBudgetExceeded,
              "The chat template was stopped because " + failure.message + at(failure), kField};
    case FailureKind::kSyntax:
      return {ErrorCode::kTemplate, "The chat template cannot be read: " + failure.message + at(failure),
              kField};
    case FailureKind::kUndefined:
    case FailureKind::kSecurity:
    case FailureKind::kRuntime:
      break;
  }
  return {ErrorCode::kTemplate, "The chat template failed: " + failure.message + at(failure), kField};
}

Error notAnObject(const char* field) {
  return {ErrorCode::kInvalidArgument,
          std::string("The field '") + field + "' of a chat request must be an object.", field};
}

// The variables of the template as one object; those of the request's own names win.
Result<Json> variablesOf(const ChatRequest& request) {
  if (!request.variables.is_object()) return notAnObject("variables");
  Json messages = Json::array();
  for (const ChatMessage& message : request.messages) {
    if (!message.extra.is_object()) return notAnObject("extra");
    Json entry = {{"role", message.role}};
    if (message.content) entry["content"] = *message.content;
    for (const auto& [name, value] : message.extra.items())
      entry[name] = value;
    messages.push_back(std::move(entry));
  }
  Json variables = request.variables;
  variables["messages"] = std::move(messages);
  variables["tools"] = request.tools;
  variables["documents"] = request.documents;
  variables["add_generation_prompt"] = request.addGenerationPrompt;
  return variables;
}

}  // namespace

Result<ChatTemplate> ChatTemplate::parse(std::string_view source, std::string bosToken,
                                         std::string eosToken) {
  std::variant<jinja::Template, Failure> parsed = jinja::Template::parse(source);
  if (const Failure* failure = std::get_if<Failure>(&parsed)) return toError(*failure);
  return ChatTemplate(std::get<jinja::Template>(std::move(parsed)), std::move(bosToken), std::move(eosToken));
}

Result<TaggedText> ChatTemplate::render(const ChatRequest& request) const {
  try {
    const Result<Json> variables = variablesOf(request);
    if (!variables) return variables.error();
    const jinja::Variables given{.data = &*variables,
                                 .markers = {{"bos_token", bosToken_}, {"eos_token", eosToken_}},
                                 .clock = request.clock};
    std::variant<TaggedText, Failure> rendered = template_.render(given);
    if (const Failure* failure = std::get_if<Failure>(&rendered)) return toError(*failure);
    return std::get<TaggedText>(std::move(rendered));
  } catch (const std::exception&) {
    // Copying the request is all that can throw here.
    return Error{ErrorCode::kOutOfMemory,
                 "There is not enough memory to prepare the conversation for the model."};
  }
}

}  // namespace tandem
