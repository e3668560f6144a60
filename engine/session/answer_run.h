// One request on its way through the loop, in steps that whoever owns the decoder takes: prepare() says what
// the next pass computes for it, take() goes on with what the pass found. Many runs can so share one decoder.
//
// The run reads its prompt in chunks and chooses the first token; after that each pass is a round: draft,
// verify, accept, commit. Belongs to the decoder's thread.
#pragma once

#include <xxhash.h>

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/stopwatch.h"
#include "engine/sampler/chooser.h"
#include "engine/session/answer_text.h"
#include "engine/session/generator.h"
#include "engine/session/reasoning.h"
#include "engine/session/run_cache.h"
#include "engine/speculation/speculator.h"

namespace tandem {

// What a pass is to compute for one request.
struct RunPass {
  const Batch& batch;
  std::span<const int> logitRows;
};

// Where a run's rows stand in a pass that several share.
struct PassPlace {
  int part = 0;
  int otherRows = 0;  // of the other parts
};

class AnswerRun {
 public:
  // Checks the request; what is wrong ends the run. Takes over what the request's cache knows of the context;
  // where that is all of it, with the logits behind it, the first token is chosen and handed out at once.
  // `sequence` is empty. `cancel` may be null.
  // REQUIRES: all but `cancel` outlive the run.
  AnswerRun(Decoder& decoder, Sequence& sequence, SpeculationResources& resources, const Generation& request,
            const GenerationCallbacks& callbacks, const std::atomic<bool>* cancel);
  AnswerRun(const AnswerRun&) = delete;
  AnswerRun& operator=(const AnswerRun&) = delete;

  bool ended() const { return !outcome_.status.ok() || ended_.has_value(); }
  bool reading() const {
    return read_ < context_.size();
  }  // whether the next pass reads a part of the prompt

  // What the next pass computes after the sequence: a part of the prompt, or the certain token (row 0) and a
  // draft (node i in row i + 1), at most `rows` rows of which at least one. Valid until take().
  // REQUIRES: !ended().
  // others: runs that have a row each in the same pass; what the router reckons with.
  RunPass prepare(int rows, int others = 0);
  // The pass ended like this; where it is ok its logits and rows are the decoder's. Commits what was accepted
  // and hands out its text. Between prepare() and take() the run may also be ended by a take() of an error,
  // while the pass still reads what was prepared.
  void take(const Status& pass, const PassPlace& place = {});
  // The last text is handed out, and all is told. REQUIRES: nothing more is called.
  GenerationOutcome finish();

 private:
  Status check();
  void begin();
  void first();
  Status checkConstraint();
  void prepareRead(int rows);
  void prepareRound(int rows, int others);
  Status takeRead();
  Status takeRound();
  void startSpeculation();
  Acceptance accept(const Draft& draft);
  TokenId choose(const Draft& draft, int node);
  bool certain(TokenId token);
  void count(const Acceptance& accepted);
  void add(const Draft& draft, const Acceptance& accepted);

  struct HashState {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };

  Decoder& decoder_;
  Sequence& sequence_;
  SpeculationResources& resources_;
  const Generation& request_;
  const GenerationCallbacks& callbacks_;
  const std::atomic<bool>* cancel_;
  const Tokenizer& tokenizer_;
  AnswerText text_;
  Chooser chooser_;
  Reasoning reasoning_;
  RunCache cache_;
  std::optional<Matcher> matcher_;  // of the constraint, behind answerSoFar
  std::unique_ptr<XXH3_state_t, HashState> hash_;
  std::optional<Speculator> speculator_;
  std::vector<TokenId> context_;  // prompt and the answer so far
  std::size_t read_ = 0;          // of the context, tokens that the sequence holds
  PassPlace place_;               // in the last pass
  Batch batch_;                   // the pass that is prepared,
  std::vector<int> rows_;         // its rows whose logits are needed; then those that are committed
  Draft draft_;                   // the round's
  RoundReport report_;            // the round's
  Stopwatch watch_;               // laps of the round
  TextPiece taken_;               // what the walk of this round made certain
  int contextLength_ = 0;
  int left_ = 0;      // tokens that may still be chosen
  TokenId last_ = 0;  // certain, not forwarded yet
  std::optional<FinishReason> ended_;
  GenerationOutcome outcome_;
  const Stopwatch total_;
};

}  // namespace tandem
