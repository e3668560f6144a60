// Answers in a prompt as the token ids that the model wrote, not as what their text would be tokenised to:
// generated ids need not be the tokens of their own text, and only the same ids are the text that was read.
//
// Pure functions; any thread may call.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "app/service/engine_backend.h"
#include "engine/model/model.h"
#include "engine/tokenizer/chat_template.h"
#include "engine/tokenizer/tokenizer.h"

namespace tandem::service {

// The ids for an answer of which the prompt shows `shown`: those of `ids` that wrote it, without the tokens
// that ended it. Where the text was cut inside a token, what is left of it is tokenised. nullopt: the text is
// not what these ids say.
std::optional<std::vector<TokenId>> idsOfAnswer(const std::shared_ptr<const Tokenizer>& tokenizer,
                                                std::span<const TokenId> ids, std::string_view shown);

// The messages with each answer that carries its ids as the model wrote it: hidden text that its content
// lacks is put back, also the opening of a thinking block by the prompt. An answer whose content is another
// text loses its ids. Errors: those of ChatTemplate::render.
Result<std::vector<PromptMessage>> asWritten(const Model& model, const ChatTemplate& chat,
                                             std::vector<PromptMessage> messages);

// Where the answers that carry their ids stand in a rendered conversation; empty when the template does more
// to a text than to trim it.
std::vector<AnswerSpan> findAnswers(const ChatTemplate& chat, const std::vector<PromptMessage>& messages,
                                    std::string_view rendered);

// The ids of the text, with those of each answer in its place where they are its text still. Errors: those of
// Tokenizer::encode.
Result<std::vector<TokenId>> encodeWithAnswers(const std::shared_ptr<const Tokenizer>& tokenizer,
                                               const TaggedText& text,
                                               const std::vector<AnswerSpan>& answers);

}  // namespace tandem::service
