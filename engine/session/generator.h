// The loop: prompt in, text pieces out. Draft, verify in one pass, accept, commit; plain decoding is the same
// loop with an empty draft.
//
// A Generator borrows a Decoder and is used by the thread that owns it. Which drafter runs, how wide, with
// how many threads: none of it changes a token (docs/arithmetic.md).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "engine/cache/prefix_cache.h"
#include "engine/constraint/constraint.h"
#include "engine/model/decoder.h"
#include "engine/session/generation.h"
#include "engine/session/reasoning_options.h"
#include "engine/speculation/drafter.h"
#include "engine/speculation/resources.h"
#include "engine/speculation/round_report.h"
#include "engine/tokenizer/detokenizer.h"

namespace tandem {

struct Generation {
  std::vector<TokenId> prompt;
  std::vector<TokenId> answerSoFar;  // tokens of the answer that exist already; generation goes on after them
  SamplingParams sampling;
  int maxTokens = 0;      // of new tokens; 0: until the context is full
  int contextLength = 0;  // prompt and answer together; 0: the model's own
  SpeculationOptions speculation;
  // The answer ends where its text comes to one of these, and is cut exactly before it. The text that may
  // begin one is held back; the tokens go up to the one that completed it. Empty ones are refused.
  std::vector<std::string> stop = {};
  // The answer ends with one of these too, as with an end token; its text is not part of the answer's.
  std::vector<TokenId> stopTokens = {};
  // While the answer, answerSoFar included, has fewer tokens, end and stop tokens are barred and stop strings
  // do not end it. At most what the answer may have.
  int minTokens = 0;
  ReasoningOptions reasoning = {};
  // What the answer's text, answerSoFar included, must be. Needs endAtEndTokens; not with relaxed accept. An
  // answer that cannot meet it with the tokens it may have is refused.
  std::shared_ptr<const Constraint> constraint = {};
  bool endAtEndTokens = true;  // false: end tokens do not end the text (for measurements)
  bool fingerprint =
      true;  // false: no GenerationStats::logitsFingerprint, whose hash reads every logit again
  // Where earlier texts are found and this one is kept; null: nowhere. Of the decoder that runs this.
  PrefixCache* cache = nullptr;
  std::int64_t conversation = 0;  // whose text it is, for the cache's list
};

// All that one round computed.
struct VerifiedRound {
  const Sequence& before;  // what the pass was computed after; a fork, so it may be kept and forked
  TokenId root;            // the certain token, row 0
  const Draft& draft;      // node i is row i + 1
  const Acceptance& acceptance;
  std::function<std::span<const float>(int row)> logits;  // until the decoder's next pass
};

struct GenerationCallbacks {
  std::function<void(int done, int total)> prefill = {};  // prompt tokens
  std::function<void(TextPiece piece)> piece = {};        // one call per round
  // One call per token of the answer, in order, with the row of logits of which it was chosen; before it is
  // committed. A cancel that is set here ends the answer with this token.
  std::function<void(TokenId token, std::span<const float> logits)> chosen = {};
  // One call per round, after it: what was drafted and why.
  std::function<void(const RoundReport& report)> round = {};
  // One call per round, after its commit, for checks: every row that was computed. The callback may run
  // passes of the same decoder once it is done with the logits.
  std::function<void(const VerifiedRound& round)> verified = {};
  // Something is not as it was asked for (a drafter that is not there, a relaxed accept): one sentence.
  std::function<void(std::string sentence)> warning = {};
};

struct GenerationOutcome {
  Status status;                  // ok also for kLength and kCancelled
  GenerationStats stats;          // as far as it came
  std::vector<TokenId> tokens;    // the new ones, the end token included
  ReasoningStats reasoning = {};  // of the whole answer
};

class Generator {
 public:
  explicit Generator(Decoder& decoder) : decoder_(decoder), sequence_(decoder.newSequence()) {}

  // Runs one generation from an empty sequence. `cancel` may be null; it is heeded between layers and between
  // rounds. Errors: kContextLengthExceeded (the prompt leaves no room; limit and excess named),
  // kInvalidArgument (a token outside the vocabulary, a parameter), kNonFinite, kOutOfMemory.
  GenerationOutcome run(const Generation& request, const GenerationCallbacks& callbacks,
                        const std::atomic<bool>* cancel = nullptr);

  // Stores, draft model, and what was learnt of this model on this machine; the requests' drafters use it.
  SpeculationResources& speculation() { return resources_; }
  // Measures what verify passes cost, if that is still to do. The first request that needs it does so itself;
  // whoever loads a model may do it before. Errors: those of Decoder::forward.
  Status prepareRouting(const std::atomic<bool>* cancel = nullptr);

  // Keys and values of what the last run has forwarded: everything but the last token.
  const Sequence& sequence() const { return sequence_; }

 private:
  Decoder& decoder_;
  Sequence sequence_;
  SpeculationResources resources_;
};

// Refuses what the request may not ask of this model: kInvalidArgument with the field,
// kContextLengthExceeded. contextLength: prompt and answer together.
Status checkGeneration(const Generation& request, const Tokenizer& tokenizer, int contextLength);

// Whether `promptTokens` leave room for an answer: ok, or kContextLengthExceeded with limit and excess in its
// sentence.
Status checkContext(std::size_t promptTokens, int contextLength);

}  // namespace tandem
