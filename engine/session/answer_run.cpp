#include "engine/session/answer_run.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "engine/speculation/rejection.h"
#include "engine/speculation/relaxed.h"

namespace tandem {
namespace {

// The tokens that end the answer.
std::vector<TokenId> endsOf(const Generation& request, const Tokenizer& tokenizer) {
  std::vector<TokenId> ends = request.stopTokens;
  if (!request.endAtEndTokens) return ends;
  for (const EndToken& token : tokenizer.vocabulary().endTokens())
    ends.push_back(token.id);
  return ends;
}

}  // namespace

AnswerRun::AnswerRun(Decoder& decoder, Sequence& sequence, SpeculationResources& resources,
                     const Generation& request, const GenerationCallbacks& callbacks,
                     const std::atomic<bool>* cancel)
    : decoder_(decoder),
      sequence_(sequence),
      resources_(resources),
      request_(request),
      callbacks_(callbacks),
      cancel_(cancel),
      tokenizer_(decoder.model().tokenizer()),
      text_(decoder.model().sharedTokenizer(), request.stop, request.minTokens),
      chooser_(request.sampling, request.minTokens, endsOf(request, tokenizer_)),
      reasoning_(decoder.model().sharedTokenizer(), reasoningMarks(decoder.model()), request.reasoning),
      cache_(request.cache, request.conversation),
      hash_(XXH3_createState()) {
  XXH3_64bits_reset(hash_.get());
  contextLength_ = request.contextLength > 0 ? request.contextLength : decoder.model().config().contextLength;
  outcome_.stats.seed = request_.sampling.seed;
  outcome_.status = check();
  if (!outcome_.status.ok()) return;
  // Before it runs, so that what its drafters know does not depend on what others teach meanwhile.
  speculator_.emplace(
      request_.speculation, resources_,
      DraftTarget{decoder_.model().config().vocabulary, &decoder_, &sequence_, &request_.sampling},
      request_.answerSoFar.size());
  begin();
}

Status AnswerRun::check() {
  if (Status s = checkGeneration(request_, tokenizer_, contextLength_); !s.ok()) return s;
  context_ = request_.prompt;
  context_.insert(context_.end(), request_.answerSoFar.begin(), request_.answerSoFar.end());
  outcome_.stats.promptTokens = static_cast<int>(context_.size());
  left_ = contextLength_ - static_cast<int>(context_.size());
  if (request_.maxTokens > 0) left_ = std::min(left_, request_.maxTokens);
  return request_.constraint ? checkConstraint() : Status();
}

// The answer must be able to meet its constraint with the tokens that are left.
Status AnswerRun::checkConstraint() {
  matcher_ = request_.constraint->start();
  for (const TokenId token : request_.answerSoFar) {
    if (matcher_->advance(token)) continue;
    if (!matcher_->status().ok()) return matcher_->status();
    return Error{ErrorCode::kInvalidArgument, "The answer so far does not have the form that is asked for.",
                 "constraint"};
  }
  return matcher_->checkLength(left_);
}

// What the cache knows of the context need not be read.
void AnswerRun::begin() {
  cache_.begin(context_, sequence_);
  read_ = static_cast<std::size_t>(sequence_.length());
  outcome_.stats.cachedTokens = sequence_.length();
  if (read_ > 0 && callbacks_.prefill)
    callbacks_.prefill(static_cast<int>(read_), static_cast<int>(context_.size()));
  if (reading()) return;
  if (cancel_ && cancel_->load()) {
    outcome_.status = Error{ErrorCode::kCancelled, "the request was stopped"};
  } else {
    first();
  }
}

RunPass AnswerRun::prepare(int rows, int others) {
  assert(!ended() && rows >= 1);
  reading() ? prepareRead(rows) : prepareRound(rows, others);
  return {batch_, rows_};
}

void AnswerRun::take(const Status& pass, const PassPlace& place) {
  outcome_.status = pass;
  place_ = place;
  if (pass.ok()) outcome_.status = reading() ? takeRead() : takeRound();
}

// The next chunk of the prompt; of the last one the logits of its last row.
void AnswerRun::prepareRead(int rows) {
  const std::size_t count = std::min(static_cast<std::size_t>(rows), context_.size() - read_);
  batch_ = Batch::chain(std::span(context_).subspan(read_, count), sequence_.length());
  rows_.clear();
  if (read_ + count == context_.size()) rows_.push_back(static_cast<int>(count) - 1);
}

// Commits the chunk; after the last one the first token is chosen.
Status AnswerRun::takeRead() {
  const int count = batch_.size();
  if (Status s = cache_.commit(decoder_, sequence_, firstRows(count), place_.part); !s.ok()) return s;
  read_ += count;
  if (callbacks_.prefill) callbacks_.prefill(static_cast<int>(read_), static_cast<int>(context_.size()));
  if (reading()) return {};
  cache_.contextRead(sequence_, decoder_.logits(0, place_.part));
  first();
  return chooser_.status();
}

// The context is read: the first token is chosen.
void AnswerRun::first() {
  outcome_.stats.prefillMs = total_.ms();
  startSpeculation();
  chooser_.begin(request_.prompt);
  reasoning_.begin(request_.prompt);
  for (const TokenId token : request_.answerSoFar) {
    text_.replay(token);
    chooser_.push(token);
    reasoning_.push(token);
  }
  if (matcher_) chooser_.constrain(*matcher_, left_);
  const Draft none;
  const Acceptance first = accept(none);
  outcome_.stats.ttftMs = total_.ms();
  add(none, first);
  speculator_->begin(context_);
  speculator_->begin(outcome_.tokens);
  outcome_.status = chooser_.status();
}

void AnswerRun::startSpeculation() {
  if (!callbacks_.warning) return;
  for (const std::string& sentence : speculator_->warnings())
    callbacks_.warning(sentence);
  if (request_.speculation.relaxed()) {
    callbacks_.warning(
        "Relaxed accept is on: the text depends on what is drafted and is not the plain text.");
  }
  if (request_.sampling.sampler == Sampler::kRejection) {
    callbacks_.warning(
        "The rejection sampler is on: the text depends on what is drafted, in its tokens and not in its "
        "distribution.");
  }
}

// One pass over the certain token, row 0, and the draft, node i in row i + 1.
void AnswerRun::prepareRound(int rows, int others) {
  report_ = {};
  report_.round = outcome_.stats.rounds;
  report_.context = sequence_.length();
  report_.others = others;
  watch_.lap();
  draft_ = speculator_->propose(left_ - 1, rows - 1, chooser_.answered(), report_);
  assert(wellFormed(draft_) && draft_.size() < rows);
  report_.draftMs = watch_.lap();
  batch_.rows.clear();
  const int base = sequence_.length();
  batch_.add(last_, -1, base);
  for (const DraftNode& node : draft_.nodes)
    batch_.add(node.token, node.parent + 1, base);
  rows_ = firstRows(batch_.size());
}

// Accepts, commits, hands out.
Status AnswerRun::takeRound() {
  report_.verifyMs = watch_.lap();
  report_.otherRows = place_.otherRows;
  report_.firstOfPass = place_.part == 0;
  const std::optional<Sequence> before = callbacks_.verified ? std::optional(sequence_.fork()) : std::nullopt;
  const TokenId root = last_;
  const std::size_t known = outcome_.tokens.size();
  const Acceptance accepted = accept(draft_);
  rows_.assign(1, 0);
  for (const int node : accepted.path)
    rows_.push_back(node + 1);
  if (Status s = cache_.commit(decoder_, sequence_, rows_, place_.part); !s.ok()) return s;
  report_.commitMs = watch_.lap();

  count(accepted);
  add(draft_, accepted);
  speculator_->end(std::span(outcome_.tokens).subspan(known), report_);
  if (callbacks_.round) callbacks_.round(report_);
  if (callbacks_.verified) {
    callbacks_.verified(
        {*before, root, draft_, accepted, [this](int row) { return decoder_.logits(row, place_.part); }});
  }
  return chooser_.status();
}

// Walks the draft by the target's choices; each becomes certain as it is made.
Acceptance AnswerRun::accept(const Draft& draft) {
  taken_ = {};
  return acceptDraft(
      draft, [&](int node) { return choose(draft, node); }, [this](TokenId token) { return certain(token); });
}

// The target's token after a node of the last pass; the chooser has gone down that node's path.
TokenId AnswerRun::choose(const Draft& draft, int node) {
  // Before the first pass of a context that was known whole, its logits are the cache's.
  const bool known = outcome_.tokens.empty() && cache_.logits();
  const std::span<const float> logits =
      known ? std::span(*cache_.logits()) : decoder_.logits(node + 1, place_.part);
  if (request_.fingerprint) XXH3_64bits_update(hash_.get(), logits.data(), logits.size_bytes());
  TokenId token = -1;
  if (const auto forced = reasoning_.forced()) {
    token = *forced;
  } else if (chooser_.takesHighest() && !known) {
    token = decoder_.best(node + 1, place_.part);
  } else if (request_.sampling.sampler == Sampler::kRejection && !request_.sampling.greedy()) {
    token = rejectionChoice(draft, node, chooser_.scores(logits), request_.sampling, chooser_.answered());
  } else {
    token = chooser_.choose(logits);
  }
  if (request_.speculation.relaxed() && !reasoning_.forced())
    token = relaxedChoice(draft, node, logits, token, request_.speculation);
  if (!chooser_.status().ok()) return token;  // no token of the answer
  if (request_.sampling.logprobs >= 0) taken_.logprobs.push_back(chooser_.logprobs(logits, token));
  if (callbacks_.chosen) callbacks_.chosen(token, logits);
  return token;
}

// Adds a token to the answer; true when it is the last one.
bool AnswerRun::certain(TokenId token) {
  if (!chooser_.status().ok()) return true;
  const bool isStop = std::ranges::find(request_.stopTokens, token) != request_.stopTokens.end();
  const std::string text = isStop ? std::string() : text_.push(token);
  chooser_.push(token);
  reasoning_.push(token);
  taken_.text += text;
  taken_.tokens.push_back({token, TokenOrigin::kPlain, static_cast<std::uint32_t>(text.size())});
  outcome_.tokens.push_back(token);
  --left_;
  if (request_.endAtEndTokens && tokenizer_.isEndToken(token)) {
    ended_ = FinishReason::kEndToken;
  } else if (isStop) {
    ended_ = FinishReason::kStopToken;
  } else if (text_.stopped()) {
    ended_ = FinishReason::kStopString;
  } else if (left_ == 0) {
    ended_ = FinishReason::kLength;
  } else if (cancel_ && cancel_->load()) {
    ended_ = FinishReason::kCancelled;
  }
  return ended_.has_value();
}

void AnswerRun::count(const Acceptance& accepted) {
  GenerationStats& stats = outcome_.stats;
  report_.drafted = draft_.size();
  report_.accepted = static_cast<int>(accepted.path.size());
  ++stats.rounds;
  stats.drafted += report_.drafted;
  stats.accepted += report_.accepted;
  for (const DraftNode& node : draft_.nodes)
    ++stats.draftedBy[static_cast<int>(node.origin)];
  stats.draftMs += report_.draftMs;
  stats.verifyMs += report_.verifyMs;
  stats.commitMs += report_.commitMs;
}

// Hands out what a round made certain as one piece.
void AnswerRun::add(const Draft& draft, const Acceptance& accepted) {
  for (std::size_t i = 0; i < accepted.path.size(); ++i)
    taken_.tokens[i].origin = draft.nodes[accepted.path[i]].origin;
  for (const PieceToken& token : taken_.tokens)
    ++outcome_.stats.acceptedBy[static_cast<int>(token.origin)];
  last_ = accepted.next;
  if (callbacks_.piece && !taken_.tokens.empty()) callbacks_.piece(std::move(taken_));
}

GenerationOutcome AnswerRun::finish() {
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
  outcome_.reasoning = reasoning_.stats();
  if (outcome_.status.ok()) {
    context_.insert(context_.end(), outcome_.tokens.begin(), outcome_.tokens.end());
    cache_.end(context_, sequence_);
  }
  stats.completionTokens = static_cast<int>(outcome_.tokens.size());
  stats.totalMs = total_.ms();
  if (request_.fingerprint) stats.logitsFingerprint = XXH3_64bits_digest(hash_.get());
  return std::move(outcome_);
}

}  // namespace tandem
