// What a request may ask for.
#include <algorithm>

#include "engine/sampler/sampler.h"
#include "engine/session/generator.h"
#include "engine/speculation/options.h"

namespace tandem {
namespace {

Error refuse(const char* field, std::string sentence) {
  return {ErrorCode::kInvalidArgument, std::move(sentence), field};
}

// Where the answer may end.
Status checkEnds(const Generation& request, int vocabulary) {
  for (const std::string& stop : request.stop)
    if (stop.empty()) return refuse("stop", "a stop string must not be empty");
  for (const TokenId token : request.stopTokens) {
    if (token < 0 || token >= vocabulary)
      return refuse("stop_token_ids", "stop_token_ids must be tokens of the vocabulary; " +
                                          std::to_string(token) + " is not in it");
  }
  if (request.maxTokens < 0) return refuse("max_tokens", "max_tokens must be 0 (no limit) or more");
  if (request.minTokens < 0) return refuse("min_tokens", "min_tokens must be 0 or more");
  if (request.reasoning.budget < 0)
    return refuse("reasoning_budget", "reasoning_budget must be 0 (no limit) or more");
  const std::size_t most = request.answerSoFar.size() + static_cast<std::size_t>(request.maxTokens);
  if (request.maxTokens > 0 && static_cast<std::size_t>(request.minTokens) > most)
    return refuse("min_tokens", "min_tokens must not be above max_tokens");
  return {};
}

// The rejection sampler walks chains only.
Status checkSampler(const Generation& request) {
  const SpeculationOptions& s = request.speculation;
  if (request.sampling.sampler == Sampler::kGumbel || !s.enabled() ||
      s.shape.kind == DraftShape::Kind::kChain)
    return {};
  return refuse("sampler", "the rejection sampler needs drafts that are chains, or none");
}

}  // namespace

Status checkContext(std::size_t promptTokens, int contextLength) {
  if (promptTokens < static_cast<std::size_t>(contextLength)) return {};
  return Error{ErrorCode::kContextLengthExceeded,
               "the text is too long: it has " + std::to_string(promptTokens) +
                   " tokens, and of the context of " + std::to_string(contextLength) +
                   " at least one must be left for the answer (" +
                   std::to_string(promptTokens + 1 - contextLength) + " too many)",
               "prompt"};
}

Status checkGeneration(const Generation& request, const Tokenizer& tokenizer, int contextLength) {
  const int vocabulary = static_cast<int>(tokenizer.vocabSize());
  if (Status s = checkSampling(request.sampling, vocabulary); !s.ok()) return s;
  if (Status s = checkSpeculation(request.speculation); !s.ok()) return s;
  if (Status s = checkSampler(request); !s.ok()) return s;
  if (Status s = checkEnds(request, vocabulary); !s.ok()) return s;
  if (request.constraint && !request.endAtEndTokens)
    return refuse("constraint", "an answer of a given form must be able to end");
  if (request.constraint && (request.reasoning.budget > 0 || request.reasoning.stallClose))
    return refuse("constraint", "an answer of a given form has no thinking that could be closed early");
  if (request.constraint && request.speculation.relaxed())
    return refuse("constraint", "an answer of a given form cannot be measured with a relaxed accept");
  const std::size_t tokens = request.prompt.size() + request.answerSoFar.size();
  if (tokens == 0) return refuse("prompt", "the prompt is empty");
  if (Status s = tokenizer.check(request.prompt); !s.ok()) return s;
  if (Status s = tokenizer.check(request.answerSoFar); !s.ok()) return s;
  return checkContext(tokens, contextLength);
}

}  // namespace tandem
