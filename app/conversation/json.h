// The JSON texts in the store's rows: settings of a conversation, sampling and figures of an answer. Keys are
// the command line's names ("top_p"). Reading never fails: what is missing or malformed keeps its default, so
// that a row of an older or newer program opens. docs/storage.md lists the keys. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/conversation/conversation_service.h"

namespace tandem {

// Only what differs from `defaults`; empty when nothing does.
std::string settingsToJson(const AnswerSettings& settings, const AnswerSettings& defaults);
AnswerSettings settingsFromJson(std::string_view json, const AnswerSettings& defaults);

// kind: the journal's `sampling` column: "", "client", "regenerate", "loop_escape" or "card".
std::string samplingToJson(const SamplingParams& sampling, std::string_view kind);
SamplingParams samplingFromJson(std::string_view json);
std::string samplingKindFromJson(std::string_view json);

// The journal's `extra`: {"regenerate", "loop_escape" or "card": the seed and why, "options": what differs
// from the usual, "reasoning": a thinking block that was closed early}; lists as their lengths, for the
// journal holds no text. Empty when there is nothing to say.
std::string extraToJson(const SamplingParams& sampling, const AnswerSettings& settings, std::string_view kind,
                        const ReasoningStats& reasoning = {},
                        const std::optional<service::ChosenSampling>& chosen = {});

std::string statsToJson(const GenerationStats& stats);
std::optional<GenerationStats> statsFromJson(std::string_view json);  // nullopt: the text holds none

// {"own-text": 12}: committed tokens by origin, those with none left out.
std::string acceptedByToJson(const GenerationStats& stats);

}  // namespace tandem
