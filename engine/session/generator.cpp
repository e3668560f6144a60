#include "engine/session/generator.h"

#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "engine/sampler/sampler.h"

namespace tandem {
namespace {

using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// One run of the loop.
class Run {
 public:
  Run(Decoder& decoder, Sequence& sequence, const Generation& request, const GenerationCallbacks& callbacks,
      const std::atomic<bool>* cancel)
      : decoder_(decoder),
        sequence_(sequence),
        request_(request),
        callbacks_(callbacks),
        cancel_(cancel),
        tokenizer_(decoder.model().tokenizer()),
        detokenizer_(decoder.model().sharedTokenizer()) {
    contextLength_ =
        request.contextLength > 0 ? request.contextLength : decoder.model().config().contextLength;
  }

  GenerationOutcome go() {
    outcome_.stats.seed = request_.sampling.seed;
    outcome_.status = check();
    if (outcome_.status.ok()) outcome_.status = prefill();
    while (outcome_.status.ok() && !finished_)
      outcome_.status = round();
    finish();
    return std::move(outcome_);
  }

 private:
  Status check() {
    if (Status s = checkSampling(request_.sampling); !s.ok()) return s;
    const int width = request_.speculation.width;
    if (width < 1 || width > 31) {
      return Error{ErrorCode::kInvalidArgument, "the draft width must be between 1 and 31", "width"};
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
    for (int done = 0; done < total;) {
      const int count = std::min(decoder_.maxRows(), total - done);
      const Batch batch = Batch::chain(std::span(context_).subspan(done, count), done);
      const int last = count - 1;
      const std::span<const int> logitRows(&last, done + count == total ? 1 : 0);
      if (Status s = decoder_.forward(sequence_, batch, logitRows, cancel_); !s.ok()) return s;
      if (Status s = commitRows(count); !s.ok()) return s;
      done += count;
      if (callbacks_.prefill) callbacks_.prefill(done, total);
    }
    outcome_.stats.prefillMs = millisecondsSince(start_);

    drafter_ = makeDrafter(request_.speculation.drafter, decoder_.model().config().vocabulary);
    if (drafter_) drafter_->append(context_);
    for (const TokenId token : request_.answerSoFar)
      detokenizer_.push(token);
    const Acceptance first{{}, choose(0)};
    add(Draft(), first);
    outcome_.stats.ttftMs = millisecondsSince(start_);
    firstToken_ = Clock::now();
    return {};
  }

  Status commitRows(int count) {
    rows_.resize(count);
    for (int i = 0; i < count; ++i)
      rows_[i] = i;
    return decoder_.commit(sequence_, rows_);
  }

  // Draft, verify, accept, commit.
  Status round() {
    const int width = std::min(request_.speculation.width, left_ - 1);
    const Draft draft = drafter_ && width > 0 ? drafter_->propose(width) : Draft();
    Batch batch;
    const int base = sequence_.length();
    batch.add(last_, -1, base);
    for (const DraftNode& node : draft.nodes)
      batch.add(node.token, node.parent + 1, base);
    rows_.resize(batch.size());
    for (int i = 0; i < batch.size(); ++i)
      rows_[i] = i;
    if (Status s = decoder_.forward(sequence_, batch, rows_, cancel_); !s.ok()) return s;

    const Acceptance accepted = acceptDraft(
        draft, [this](int node) { return choose(node + 1); }, [this](TokenId token) { return ends(token); });
    rows_.assign(1, 0);
    for (const int node : accepted.path)
      rows_.push_back(node + 1);
    if (Status s = decoder_.commit(sequence_, rows_); !s.ok()) return s;

    ++outcome_.stats.rounds;
    outcome_.stats.drafted += draft.size();
    outcome_.stats.accepted += static_cast<int>(accepted.path.size());
    add(draft, accepted);
    return {};
  }

  // The target's token after the given row of the last pass; each call is the next index of the answer.
  TokenId choose(int row) {
    const std::span<const float> logits = decoder_.logits(row);
    XXH3_64bits_update(hash_.get(), logits.data(), logits.size_bytes());
    return chooseToken(logits, request_.sampling, request_.answerSoFar.size() + chosen_++);
  }

  bool ends(TokenId token) const { return request_.endAtEndTokens && tokenizer_.isEndToken(token); }

  // Adds what a round made certain to the answer and hands it out as one piece.
  void add(const Draft& draft, const Acceptance& accepted) {
    TextPiece piece;
    const std::size_t before = outcome_.tokens.size();
    for (const int node : accepted.path)
      addToken(draft.nodes[node].token, draft.origin, piece);
    addToken(accepted.next, TokenOrigin::kPlain, piece);
    last_ = accepted.next;
    if (drafter_) drafter_->append(std::span(outcome_.tokens).subspan(before));
    if (callbacks_.piece) callbacks_.piece(std::move(piece));
    if (ends(last_)) {
      finished_ = true;
      outcome_.stats.finish = FinishReason::kEndToken;
    } else if (left_ == 0) {
      finished_ = true;
      outcome_.stats.finish = FinishReason::kLength;
    }
  }

  void addToken(TokenId token, TokenOrigin origin, TextPiece& piece) {
    const std::string text = detokenizer_.push(token);
    piece.text += text;
    piece.tokens.push_back({token, origin, static_cast<std::uint32_t>(text.size())});
    outcome_.tokens.push_back(token);
    ++outcome_.stats.acceptedBy[static_cast<int>(origin)];
    --left_;
  }

  void finish() {
    GenerationStats& stats = outcome_.stats;
    if (!outcome_.status.ok()) {
      const bool cancelled = outcome_.status.error().code == ErrorCode::kCancelled;
      stats.finish = cancelled ? FinishReason::kCancelled : FinishReason::kFailed;
      if (cancelled) outcome_.status = Status();
    }
    if (!outcome_.tokens.empty()) {
      TextPiece tail{detokenizer_.finish(), {}};
      if (!tail.text.empty() && callbacks_.piece) callbacks_.piece(std::move(tail));
      stats.decodeMs = millisecondsSince(firstToken_);
    }
    stats.completionTokens = static_cast<int>(outcome_.tokens.size());
    stats.totalMs = millisecondsSince(start_);
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
  const Generation& request_;
  const GenerationCallbacks& callbacks_;
  const std::atomic<bool>* cancel_;
  const Tokenizer& tokenizer_;
  StreamingDetokenizer detokenizer_;
  std::unique_ptr<XXH3_state_t, HashState> hash_ = newHash();
  std::unique_ptr<Drafter> drafter_;
  std::vector<TokenId> context_;  // prompt and the answer so far
  std::vector<int> rows_;
  int contextLength_ = 0;
  int left_ = 0;              // tokens that may still be chosen
  std::uint64_t chosen_ = 0;  // tokens chosen in this run
  TokenId last_ = 0;          // certain, not forwarded yet
  bool finished_ = false;
  GenerationOutcome outcome_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point firstToken_;
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

GenerationOutcome Generator::run(const Generation& request, const GenerationCallbacks& callbacks,
                                 const std::atomic<bool>* cancel) {
  sequence_ = decoder_.newSequence();
  return Run(decoder_, sequence_, request, callbacks, cancel).go();
}

}  // namespace tandem
