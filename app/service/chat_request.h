// Messages as a chat template takes them. Pure; any thread may call.
#pragma once

#include <vector>

#include "app/service/engine_backend.h"
#include "engine/tokenizer/chat_template.h"

namespace tandem::service {

// Calls are {"id", "type": "function", "function": {"name", "arguments"}}. Arguments are a value, as
// templates expect them, or a text where they are no JSON object; an empty id is left out.
ChatRequest chatRequest(const std::vector<PromptMessage>& messages);

}  // namespace tandem::service
