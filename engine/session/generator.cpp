#include "engine/session/generator.h"

#include <xxhash.h>

#include <algorithm>
#include <cassert>
#include <numeric>
#include <optional>

#include "engine/base/stopwatch.h"
#include "engine/sampler/sampler.h"
#include "engine/session/answer_text.h"
#include "engine/speculation/options.h"
#include "engine/speculation/relaxed.h"
#include "engine/speculation/speculator.h"

namespace tandem {
namespace {

// One run of the loop.
class Run {
 public:
  Run(Decoder& decoder, Sequence& sequence, SpeculationResources& resources, const Generation& request,
      const GenerationCallbacks& callbacks, const std::atomic<bool>* cancel)
      : decoder_(decoder),
        sequence_(sequence),
        resources_(resources),
        request_(request),
        callbacks_(callbacks),
        cancel_(cancel),
        tokenizer_(decoder.model().tokenizer()),
        text_(decoder.model().sharedTokenizer(), request.stop) {
    contextLength_ =
        request.contextLength > 0 ? request.contextLength : decoder.model().config().contextLength;
  }

  GenerationOutcome go() {
    outcome_.stats.seed = request_.sampling.seed;
    outcome_.status = check();
    if (outcome_.status.ok()) outcome_.status = prefill();
    while (outcome_.status.ok() && !ended_)
      outcome_.status = round();
    finish();
    return std::move(outcome_);
  }

 private:
  Status check() {
    if (Status s = checkSampling(request_.sampling); !s.ok()) return s;
    if (Status s = checkSpeculation(request_.speculation); !s.ok()) return s;
    for (const std::string& stop : request_.stop) {
      if (stop.empty()) return Error{ErrorCode::kInvalidArgument, "a stop string must not be empty", "stop"};
    }
    context_ = request_.prompt;
    context_.insert(context_.end(), request_.answerSoFar.begin(), request_.answerSoFar.end());
    if (context_.empty()) return Error{ErrorCode::kInvalidArgument, "the prompt is empty", "prompt"};
    if (Status s = tokenizer_.check(context_); !s.ok()) return s;
    if (Status s = checkContext(context_.size(), contextLength_); !s.ok()) return s;
    outcome_.stats.promptTokens = static_cast<int>(context_.size());
    left_ = contextLength_ - static_cast<int>(context_.size());
    if (request_.maxTokens > 0) left_ = std::min(left_, request_.maxTokens);
    return {};
  }

  // Forwards the prompt in chunks and chooses the first token.
  Status prefill() {
    const int total = static_cast<int>(context_.size());
    const auto progress = [&](int done) {
      if (callbacks_.prefill) callbacks_.prefill(done, total);
    };
    if (Status s = decoder_.read(sequence_, context_, cancel_, progress); !s.ok()) return s;
    outcome_.stats.prefillMs = total_.ms();

    startSpeculation();
    for (const TokenId token : request_.answerSoFar)
      text_.replay(token);
    const Draft none;
    const Acceptance first = accept(none);
    outcome_.stats.ttftMs = total_.ms();
    add(none, first);
    speculator_->begin(outcome_.tokens);
    return {};
  }

  void startSpeculation() {
    speculator_.emplace(request_.speculation, resources_,
                        DraftTarget{decoder_.model().config().vocabulary, &decoder_, &sequence_},
                        request_.answerSoFar.size());
    speculator_->begin(context_);
    if (!callbacks_.warning) return;
    for (const std::string& sentence : speculator_->warnings())
      callbacks_.warning(sentence);
    if (request_.speculation.relaxed()) {
      callbacks_.warning(
          "Relaxed accept is on: the text depends on what is drafted and is not the plain text.");
    }
  }

  // Draft, verify, accept, commit.
  Status round() {
    RoundReport report;
    report.round = outcome_.stats.rounds;
    report.context = sequence_.length();
    Stopwatch watch;
    const Draft draft = speculator_->propose(left_ - 1, report);
    assert(wellFormed(draft));
    report.draftMs = watch.lap();
    if (Status s = verify(draft); !s.ok()) return s;
    report.verifyMs = watch.lap();

    const std::optional<Sequence> before =
        callbacks_.verified ? std::optional(sequence_.fork()) : std::nullopt;
    const TokenId root = last_;
    const std::size_t known = outcome_.tokens.size();
    const Acceptance accepted = accept(draft);
    rows_.assign(1, 0);
    for (const int node : accepted.path)
      rows_.push_back(node + 1);
    if (Status s = decoder_.commit(sequence_, rows_); !s.ok()) return s;
    report.commitMs = watch.lap();

    count(draft, accepted, report);
    add(draft, accepted);
    speculator_->end(std::span(outcome_.tokens).subspan(known), report);
    if (callbacks_.round) callbacks_.round(report);
    if (callbacks_.verified) {
      callbacks_.verified({*before, root, draft, accepted, [this](int row) { return decoder_.logits(row); }});
    }
    return {};
  }

  // One pass over the certain token, row 0, and the draft, node i in row i + 1.
  Status verify(const Draft& draft) {
    Batch batch;
    const int base = sequence_.length();
    batch.add(last_, -1, base);
    for (const DraftNode& node : draft.nodes)
      batch.add(node.token, node.parent + 1, base);
    rows_.resize(batch.size());
    std::iota(rows_.begin(), rows_.end(), 0);
    return decoder_.forward(sequence_, batch, rows_, cancel_);
  }

  // Walks the draft by the target's choices; each becomes certain as it is made.
  Acceptance accept(const Draft& draft) {
    taken_ = {};
    return acceptDraft(
        draft, [&](int node) { return choose(draft, node); }, [this](TokenId token) { return take(token); });
  }

  // The target's token after a node of the last pass; each call is the next index of the answer.
  TokenId choose(const Draft& draft, int node) {
    const std::span<const float> logits = decoder_.logits(node + 1);
    XXH3_64bits_update(hash_.get(), logits.data(), logits.size_bytes());
    const std::uint64_t index = request_.answerSoFar.size() + chosen_++;
    TokenId token =
        request_.sampling.greedy() ? decoder_.best(node + 1) : chooseToken(logits, request_.sampling, index);
    if (request_.speculation.relaxed())
      token = relaxedChoice(draft, node, logits, token, request_.speculation);
    if (callbacks_.chosen) callbacks_.chosen(token, logits);
    return token;
  }

  // Adds a token to the answer; true when it is the last one.
  bool take(TokenId token) {
    const std::string text = text_.push(token);
    taken_.text += text;
    taken_.tokens.push_back({token, TokenOrigin::kPlain, static_cast<std::uint32_t>(text.size())});
    outcome_.tokens.push_back(token);
    --left_;
    if (request_.endAtEndTokens && tokenizer_.isEndToken(token)) {
      ended_ = FinishReason::kEndToken;
    } else if (text_.stopped()) {
      ended_ = FinishReason::kStopString;
    } else if (left_ == 0) {
      ended_ = FinishReason::kLength;
    } else if (cancel_ && cancel_->load()) {
      ended_ = FinishReason::kCancelled;
    }
    return ended_.has_value();
  }

  void count(const Draft& draft, const Acceptance& accepted, RoundReport& report) {
    GenerationStats& stats = outcome_.stats;
    report.drafted = draft.size();
    report.accepted = static_cast<int>(accepted.path.size());
    ++stats.rounds;
    stats.drafted += report.drafted;
    stats.accepted += report.accepted;
    for (const DraftNode& node : draft.nodes)
      ++stats.draftedBy[static_cast<int>(node.origin)];
    stats.draftMs += report.draftMs;
    stats.verifyMs += report.verifyMs;
    stats.commitMs += report.commitMs;
  }

  // Hands out what a round made certain as one piece.
  void add(const Draft& draft, const Acceptance& accepted) {
    for (std::size_t i = 0; i < accepted.path.size(); ++i)
      taken_.tokens[i].origin = draft.nodes[accepted.path[i]].origin;
    for (const PieceToken& token : taken_.tokens)
      ++outcome_.stats.acceptedBy[static_cast<int>(token.origin)];
    last_ = accepted.next;
    if (callbacks_.piece) callbacks_.piece(std::move(taken_));
  }

  void finish() {
    GenerationStats& stats = outcome_.stats;
    if (outcome_.status.ok()) {
      stats.finish = *ended_;
    } else {
      const bool cancelled = outcome_.status.error().code == ErrorCode::kCancelled;
      stats.finish = cancelled ? FinishReason::kCancelled : FinishReason::kFailed;
      if (cancelled) outcome_.status = Status();
    }
    if (!outcome_.tokens.empty()) {
      TextPiece tail{text_.finish(), {}};
      if (!tail.text.empty() && callbacks_.piece) callbacks_.piece(std::move(tail));
      stats.decodeMs = total_.ms() - stats.ttftMs;
    }
    stats.completionTokens = static_cast<int>(outcome_.tokens.size());
    stats.totalMs = total_.ms();
    stats.logitsFingerprint = XXH3_64bits_digest(hash_.get());
  }

  struct HashState {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  static std::unique_ptr<XXH3_state_t, HashState> newHash() {
    std::unique_ptr<XXH3_state_t, HashState> state(XXH3_createState());
    XXH3_64bits_reset(state.get());
    return state;
  }

  Decoder& decoder_;
  Sequence& sequence_;
  SpeculationResources& resources_;
  const Generation& request_;
  const GenerationCallbacks& callbacks_;
  const std::atomic<bool>* cancel_;
  const Tokenizer& tokenizer_;
  AnswerText text_;
  std::unique_ptr<XXH3_state_t, HashState> hash_ = newHash();
  std::optional<Speculator> speculator_;
  std::vector<TokenId> context_;  // prompt and the answer so far
  std::vector<int> rows_;
  TextPiece taken_;  // what the walk of this round made certain
  int contextLength_ = 0;
  int left_ = 0;              // tokens that may still be chosen
  std::uint64_t chosen_ = 0;  // tokens chosen in this run
  TokenId last_ = 0;          // certain, not forwarded yet
  std::optional<FinishReason> ended_;
  GenerationOutcome outcome_;
  const Stopwatch total_;
};

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

Status Generator::prepareRouting(const std::atomic<bool>* cancel) {
  if (resources_.verifyCost.measured()) return {};
  return resources_.verifyCost.measure(decoder_, cancel);
}

GenerationOutcome Generator::run(const Generation& request, const GenerationCallbacks& callbacks,
                                 const std::atomic<bool>* cancel) {
  sequence_ = decoder_.newSequence();
  if (isRouted(request.speculation)) {
    // A pass that fails here fails again in the run, which tells it.
    const Status measured = prepareRouting(cancel);
    static_cast<void>(measured);
  }
  return Run(decoder_, sequence_, resources_, request, callbacks, cancel).go();
}

}  // namespace tandem
