// What a model wrote in an answer and its readers were not shown. A conversation comes back in their copy;
// the prompt is to be the context that the model had. Pure functions; any thread may call.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/service/engine_backend.h"
#include "engine/session/reasoning.h"
#include "engine/tokenizer/tokenizer.h"

namespace tandem::service {

// All that the ids say, without the tokens that ended the answer.
struct WrittenText {
  std::string text;
  std::string unfinished;  // what an unfinished character at its end is shown as; empty: there is none
};
WrittenText writtenText(const std::shared_ptr<const Tokenizer>& tokenizer, std::span<const TokenId> ids);

// Whether `copy` is `text` with each hidden stretch whole or left out. Everything else is the same to the
// byte; only the white space directly beside a hidden stretch, and at its own ends, may differ. `opened`: the
// mark of a thinking block that the prompt opened, which a copy may begin with; else empty.
bool isCopy(std::string_view copy, std::string_view text, std::span<const HiddenText> hidden,
            std::string_view opened = {});

// Whether the text ends a thinking block that it does not begin: the prompt did.
bool beginsInThought(std::string_view text, const ReasoningMarks& marks);
// The end of a prompt from the opening mark on, where nothing but white space follows it; else empty.
std::string_view openingOf(std::string_view prompt, const ReasoningMarks& marks);

// What readers of an answer to `prompt` need not have been shown: its thinking block and, where a stop string
// cut it, all from there on. Stretches of its writtenText.
std::vector<HiddenText> hiddenIn(const std::shared_ptr<const Tokenizer>& tokenizer,
                                 const std::optional<ReasoningMarks>& marks, std::span<const TokenId> prompt,
                                 std::span<const TokenId> answer, const std::vector<std::string>& stop,
                                 int minTokens);

}  // namespace tandem::service
