#include "app/service/chat_request.h"

#include "app/service/call_text.h"

namespace tandem::service {
namespace {

using Json = nlohmann::ordered_json;

Json callOf(const ToolCall& call) {
  Json json = {{"type", "function"}, {"function", {{"name", call.name}, {"arguments", call.arguments}}}};
  if (std::optional<Json> arguments = argumentsOf<Json>(call.arguments); arguments && arguments->is_object())
    json["function"]["arguments"] = std::move(*arguments);
  if (!call.id.empty()) json["id"] = call.id;
  return json;
}

}  // namespace

ChatRequest chatRequest(const std::vector<PromptMessage>& messages) {
  ChatRequest request;
  for (const PromptMessage& message : messages) {
    ChatMessage& added = request.messages.emplace_back(message.role, message.content);
    for (const ToolCall& call : message.toolCalls)
      added.extra["tool_calls"].push_back(callOf(call));
    if (!message.toolCallId.empty()) added.extra["tool_call_id"] = message.toolCallId;
  }
  return request;
}

}  // namespace tandem::service
