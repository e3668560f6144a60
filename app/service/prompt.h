// From a request to the token ids that the engine reads: one way for the service and the command line.
//
// Pure functions; any thread may call.
#pragma once

#include <vector>

#include "app/service/engine_backend.h"
#include "engine/model/model.h"

namespace tandem::service {

// The prompt's ids, without `answerSoFar`. Messages go through the model's chat template, with the opening of
// the assistant's answer at the end; without messages it is `rawPrompt` as it is. BOS is put before it where
// the model wants one. What people wrote never becomes a control token. An answer whose text is unchanged,
// but for what was hidden of it, is the ids that the model wrote (answer_ids.h). Errors: kUnsupported
// (messages, but no template; a vocabulary that cannot tokenise), kTemplate and kBudgetExceeded (the
// template's own), kInvalidArgument (too long to tokenise).
Result<std::vector<TokenId>> promptIds(const Model& model, const GenerateRequest& request);

}  // namespace tandem::service
