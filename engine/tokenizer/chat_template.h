// A model's chat template: turns a conversation into the text that is tokenised.
//
// The template comes with the model file and is not trusted: it runs in an interpreter of our own that can
// reach nothing but the request (docs/chat-templates.md). The text it gives knows for every byte whether the
// template wrote it, its bos and eos tokens included, or whether it is data: everything in a ChatRequest and
// the date.
//
// A ChatTemplate is immutable and cheap to copy; any thread may render it, also several at once.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"
#include "engine/tokenizer/jinja/clock.h"
#include "engine/tokenizer/jinja/template.h"
#include "engine/tokenizer/tagged_text.h"

namespace tandem {

// One message. The template sees an object with `role`, then `content` unless it is absent, then the fields
// of `extra` in their order (tool_calls, tool_call_id, name, reasoning_content, ...).
struct ChatMessage {
  std::string role;
  std::optional<nlohmann::ordered_json> content = {};  // a text, a list of parts, or null
  nlohmann::ordered_json extra = nlohmann::ordered_json::object();
};

struct ChatRequest {
  std::vector<ChatMessage> messages;
  nlohmann::ordered_json tools = nullptr;      // a list of tool descriptions; null is `none` in the template
  nlohmann::ordered_json documents = nullptr;  // likewise
  bool addGenerationPrompt = true;
  // More variables by name, such as enable_thinking. They never replace the ones above, nor bos_token and
  // eos_token.
  nlohmann::ordered_json variables = nlohmann::ordered_json::object();
  jinja::Clock clock = {};  // for strftime_now; the machine's clock when it is empty
};

class ChatTemplate {
 public:
  // `bosToken` and `eosToken` are spelled as in the vocabulary; empty when the model has none.
  // Errors: kTemplate when the source cannot be read, kBudgetExceeded when it is too long or nested too
  // deeply.
  static Result<ChatTemplate> parse(std::string_view source, std::string bosToken, std::string eosToken);

  // Errors: kTemplate when the template fails; when it raised an exception of its own, its message is exactly
  // the template's. kBudgetExceeded when it takes too many steps, too much memory or too much output.
  // kInvalidArgument when `extra` or `variables` is not an object.
  Result<TaggedText> render(const ChatRequest& request) const;

 private:
  ChatTemplate(jinja::Template parsed, std::string bosToken, std::string eosToken)
      : template_(std::move(parsed)), bosToken_(std::move(bosToken)), eosToken_(std::move(eosToken)) {}

  jinja::Template template_;
  std::string bosToken_, eosToken_;
};

}  // namespace tandem
