#include "app/conversation/turn.h"

#include <chrono>
#include <numeric>

#include "app/conversation/json.h"
#include "app/conversation/title.h"

namespace tandem {

using storage::MessageRecord;
using storage::MessageState;
using storage::Role;
using storage::Writer;

namespace {

// The window's Regenerate (docs/storage.md), the same for every conversation unless it is switched off:
// another way to draw. What changes scores stays as it is set.
void sampleAnew(SamplingParams& sampling) {
  sampling.temperature = 0.7f;
  sampling.topK = 20;
  sampling.topP = 0.95f;
  sampling.minP = 0;
}

Error refusal(const char* sentence) {
  return {ErrorCode::kInvalidArgument, sentence, {}, std::nullopt};
}

// Settles what the answer is sampled with, and notes it in its record.
void settleSampling(Turn& turn, const storage::ConversationRecord& record) {
  turn.settings = settingsFromJson(record.settingsJson, turn.defaults);
  if (turn.kind == Turn::Kind::kContinue) {
    turn.samplingKind = samplingKindFromJson(turn.before.samplingJson);
    return;
  }
  SamplingParams sampling = turn.settings.sampling;
  const bool regenerate = turn.kind == Turn::Kind::kRegenerate && turn.settings.regenerateSamples;
  if (regenerate) sampleAnew(sampling);
  const bool plain = sampling.greedy() && !sampling.changesScores();
  turn.samplingKind = regenerate ? "regenerate" : plain ? "" : "client";
  if (regenerate || (!sampling.greedy() && !turn.settings.seedGiven)) sampling.seed = turn.freshSeed;
  turn.answer.samplingJson = samplingToJson(sampling, turn.samplingKind);
}

Result<MessageId> addQuestion(Writer& writer, const Turn& turn, ConversationId conversation,
                              MessageId parent) {
  MessageRecord question;
  question.conversation = conversation;
  question.parent = parent;
  question.content = turn.text;
  question.createdMs = turn.arrivedMs;
  return writer.addMessage(question);
}

Status addAnswer(Writer& writer, Turn& turn, const storage::ConversationRecord& record, MessageId parent) {
  turn.answer = MessageRecord();
  turn.answer.conversation = record.id;
  turn.answer.parent = parent;
  turn.answer.role = Role::kAssistant;
  turn.answer.state = MessageState::kStreaming;
  turn.answer.model = turn.modelName;
  turn.answer.createdMs = turn.arrivedMs;
  settleSampling(turn, record);
  const Result<MessageId> added = writer.addMessage(turn.answer);
  if (!added) return added.status();
  turn.answer.id = *added;
  return writer.choose(*added);
}

Status writeSend(Writer& writer, Turn& turn, storage::ConversationRecord& record) {
  const auto path = writer.path(record.id);
  if (!path) return path.status();
  if (path->empty() && !record.titleByPerson) record.title = titleOf(turn.text);
  const MessageId last = path->empty() ? 0 : path->back().id;
  if (!path->empty() && path->back().state == MessageState::kStreaming) {
    return Error{
        ErrorCode::kBusy, "This conversation is being answered; wait or stop it first.", {}, std::nullopt};
  }
  turn.shownBefore = 0;
  const Result<MessageId> question = addQuestion(writer, turn, record.id, last);
  if (!question) return question.status();
  turn.firstAdded = *question;
  return addAnswer(writer, turn, record, *question);
}

Status writeEdit(Writer& writer, Turn& turn, const storage::ConversationRecord& record,
                 const MessageRecord& old) {
  if (old.role != Role::kUser) return refusal("Only your own messages can be edited.");
  const Result<MessageId> shown = writer.shownChild(record.id, old.parent);
  if (!shown) return shown.status();
  turn.shownBefore = *shown;
  const Result<MessageId> question = addQuestion(writer, turn, record.id, old.parent);
  if (!question) return question.status();
  turn.firstAdded = *question;
  return addAnswer(writer, turn, record, *question);
}

Status writeRegenerate(Writer& writer, Turn& turn, const storage::ConversationRecord& record,
                       const MessageRecord& old) {
  if (old.role != Role::kAssistant) return refusal("Only an answer can be regenerated.");
  const Result<MessageId> shown = writer.shownChild(record.id, old.parent);
  if (!shown) return shown.status();
  turn.shownBefore = *shown;
  const Status status = addAnswer(writer, turn, record, old.parent);
  turn.firstAdded = turn.answer.id;
  return status;
}

Status writeContinue(Writer& writer, Turn& turn, const storage::ConversationRecord& record,
                     const MessageRecord& old) {
  const bool cut = old.state == MessageState::kStopped || old.state == MessageState::kLength ||
                   old.state == MessageState::kInterrupted;
  if (old.role != Role::kAssistant || !cut)
    return refusal("Only an answer that was stopped or cut can go on.");
  turn.before = old;
  turn.answer = old;
  turn.answer.state = MessageState::kStreaming;
  turn.answer.error.clear();
  turn.answer.model = turn.modelName;
  // Text beyond the tokens' own is a character that was never finished; the tokens that follow complete it.
  const auto bytes = std::accumulate(old.textBytes.begin(), old.textBytes.end(), std::size_t{0});
  if (bytes < turn.answer.content.size()) turn.answer.content.resize(bytes);
  turn.firstAdded = 0;
  settleSampling(turn, record);
  const Status status = writer.resumeAnswer(turn.answer);
  return status ? writer.choose(old.id) : status;
}

Result<storage::ConversationRecord> newConversation(Writer& writer, const Turn& turn) {
  storage::ConversationRecord record;
  record.title = titleOf(turn.text);
  record.systemPrompt = turn.newSystemPrompt;
  record.settingsJson = turn.newSettingsJson;
  record.createdMs = record.updatedMs = turn.arrivedMs;
  const Result<ConversationId> id = writer.addConversation(record);
  if (!id) return id.error();
  record.id = *id;
  return record;
}

}  // namespace

bool Turn::withdraw() {
  Gate expected = Gate::kWaiting;
  return gate.compare_exchange_strong(expected, Gate::kWithdrawn);
}

bool Turn::enter() {
  Gate expected = Gate::kWaiting;
  return gate.compare_exchange_strong(expected, Gate::kWriting) || expected == Gate::kWriting;
}

SamplingParams Turn::sampling() const {
  return samplingFromJson(answer.samplingJson);
}

std::int64_t nowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Result<ConversationView> readView(storage::Reader& reader, ConversationId id) {
  Result<storage::ConversationRecord> record = reader.conversation(id);
  if (!record) return record.error();
  Result<std::vector<MessageRecord>> path = reader.path(id);
  if (!path) return path.error();
  return ConversationView{std::move(*record), std::move(*path)};
}

Status writeTurn(Writer& writer, Turn& turn) {
  if (!turn.enter()) return Error{ErrorCode::kCancelled, "Stopped before it was saved.", {}, std::nullopt};
  std::optional<MessageRecord> source;
  if (turn.source != 0) {
    Result<MessageRecord> found = writer.message(turn.source);
    if (!found) return found.status();
    source = std::move(*found);
  }
  Result<storage::ConversationRecord> record =
      turn.conversation == 0 ? newConversation(writer, turn) : writer.conversation(turn.conversation);
  if (!record) return record.status();

  Status status;
  switch (turn.kind) {
    case Turn::Kind::kSend:
      status = writeSend(writer, turn, *record);
      break;
    case Turn::Kind::kEdit:
      status = writeEdit(writer, turn, *record, *source);
      break;
    case Turn::Kind::kRegenerate:
      status = writeRegenerate(writer, turn, *record, *source);
      break;
    case Turn::Kind::kContinue:
      status = writeContinue(writer, turn, *record, *source);
      break;
  }
  if (!status) return status;
  record->updatedMs = turn.arrivedMs;
  status = writer.updateConversation(*record);
  if (!status) return status;
  Result<ConversationView> view = readView(writer, record->id);
  if (!view) return view.status();
  turn.view = std::move(*view);
  return {};
}

Status writeEnd(Writer& writer, const TurnEnd& end, std::optional<ConversationView>& view) {
  view.reset();
  // The message may have been deleted meanwhile; its journal row is written all the same.
  const auto unlessGone = [](Status status) {
    return !status && status.error().code == ErrorCode::kNotFound ? Status() : status;
  };
  Status status =
      end.remove ? writer.removeMessage(end.firstAdded, end.shownBefore) : writer.finishAnswer(end.answer);
  status = unlessGone(std::move(status));
  if (!status) return status;
  const Result<std::int64_t> row = writer.addJournal(end.journal);
  if (!row) return row.status();

  Result<storage::ConversationRecord> record = writer.conversation(end.conversation);
  if (!record) return unlessGone(record.status());
  record->updatedMs = std::max(record->updatedMs, end.nowMs);
  if (end.tokens > 0) record->tokens = end.tokens;
  status = writer.updateConversation(*record);
  if (!status) return status;
  if (!end.draftText.empty()) {
    status = writer.addDraftText(end.conversation, end.vocabulary, end.draftText);
    if (!status) return status;
  }
  Result<ConversationView> after = readView(writer, end.conversation);
  if (!after) return after.status();
  view = std::move(*after);
  return {};
}

}  // namespace tandem
