#include "app/service/prompt.h"

namespace tandem::service {

Result<std::vector<TokenId>> promptIds(const Model& model, const GenerateRequest& request) {
  const Tokenizer& tokenizer = model.tokenizer();
  if (request.messages.empty()) return tokenizer.encode(request.rawPrompt, Bos::kAsModel);
  const Result<ChatTemplate>& chat = model.chatTemplate();
  if (!chat && chat.error().code == ErrorCode::kNotFound) {
    return Error{
        ErrorCode::kUnsupported,
        "This model has no chat template: it can only continue a text as it is (--raw; in the window, "
        "Completion mode).",
        "tokenizer.chat_template"};
  }
  if (!chat) return chat.error();
  ChatRequest rendered;
  for (const PromptMessage& message : request.messages) {
    rendered.messages.push_back({.role = message.role, .content = message.content});
  }
  const Result<TaggedText> text = chat->render(rendered);
  if (!text) return text.error();
  return tokenizer.encode(*text, Bos::kAsModel);
}

}  // namespace tandem::service
