#include "app/service/prompt.h"

#include "app/service/answer_ids.h"
#include "app/service/chat_request.h"

namespace tandem::service {

Result<std::vector<TokenId>> promptIds(const Model& model, const GenerateRequest& request) {
  if (request.messages.empty()) {
    return encodeWithAnswers(model.sharedTokenizer(), TaggedText(request.rawPrompt, false),
                             request.rawAnswers);
  }
  const Result<ChatTemplate>& chat = model.chatTemplate();
  if (!chat && chat.error().code == ErrorCode::kNotFound) {
    return Error{
        ErrorCode::kUnsupported,
        "This model has no chat template: it can only continue a text as it is (--raw; in the window, "
        "Completion mode).",
        "tokenizer.chat_template"};
  }
  if (!chat) return chat.error();
  const auto messages = asWritten(model, *chat, request.messages);
  if (!messages) return messages.error();
  const Result<TaggedText> text = chat->render(chatRequest(*messages));
  if (!text) return text.error();
  return encodeWithAnswers(model.sharedTokenizer(), *text, findAnswers(*chat, *messages, text->text()));
}

}  // namespace tandem::service
