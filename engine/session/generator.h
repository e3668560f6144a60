// The loop: prompt in, text pieces out. Draft, verify in one pass, accept, commit; plain decoding is the same
// loop with an empty draft.
//
// A Generator borrows a Decoder and is used by the thread that owns it. Which drafter runs, how wide, with
// how many threads: none of it changes a token (docs/arithmetic.md).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "engine/base/status.h"
#include "engine/model/decoder.h"
#include "engine/session/generation.h"
#include "engine/speculation/drafter.h"
#include "engine/tokenizer/detokenizer.h"

namespace tandem {

struct Generation {
  std::vector<TokenId> prompt;
  std::vector<TokenId> answerSoFar;  // tokens of the answer that exist already; generation goes on after them
  SamplingParams sampling;
  int maxTokens = 0;      // of new tokens; 0: until the context is full
  int contextLength = 0;  // prompt and answer together; 0: the model's own
  SpeculationOptions speculation;
  bool endAtEndTokens = true;  // false: only length ends the text (for measurements)
};

struct GenerationCallbacks {
  std::function<void(int done, int total)> prefill = {};  // prompt tokens
  std::function<void(TextPiece piece)> piece = {};        // one call per round
};

struct GenerationOutcome {
  Status status;                // ok also for kLength and kCancelled
  GenerationStats stats;        // as far as it came
  std::vector<TokenId> tokens;  // the new ones, the end token included
};

class Generator {
 public:
  explicit Generator(Decoder& decoder) : decoder_(decoder), sequence_(decoder.newSequence()) {}

  // Runs one generation from an empty sequence. `cancel` may be null; it is heeded between layers and between
  // rounds. Errors: kContextLengthExceeded (the prompt leaves no room; limit and excess named),
  // kInvalidArgument (a token outside the vocabulary, a parameter), kNonFinite, kOutOfMemory.
  GenerationOutcome run(const Generation& request, const GenerationCallbacks& callbacks,
                        const std::atomic<bool>* cancel = nullptr);

  // Keys and values of what the last run has forwarded: everything but the last token.
  const Sequence& sequence() const { return sequence_; }

 private:
  Decoder& decoder_;
  Sequence sequence_;
};

// Whether `promptTokens` leave room for an answer: ok, or kContextLengthExceeded with limit and excess in its
// sentence.
Status checkContext(std::size_t promptTokens, int contextLength);

}  // namespace tandem
