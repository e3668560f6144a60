#include "storage/writer.h"

#include <algorithm>

#include "storage/blobs.h"
#include "storage/draft_texts.h"
#include "storage/owner.h"

namespace tandem::storage {

Status Writer::runOnRow(Database& db, Statement& statement, const char* what) {
  const Status status = statement.run();
  if (!status || db.changes() > 0) return status;
  return Error{ErrorCode::kNotFound, std::string("This ") + what + " no longer exists.", "id", std::nullopt};
}

Result<ConversationId> Writer::addConversation(const ConversationRecord& record) {
  Statement s = db_.prepare(
      "INSERT INTO conversations (title, title_by_person, pinned, system_prompt, settings, created_ms, "
      "updated_ms, "
      "tokens, owner) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  s.bindText(record.title).bind(std::int64_t{record.titleByPerson}).bind(std::int64_t{record.pinned});
  s.bindBlob(record.systemPrompt).bindText(record.settingsJson).bind(record.createdMs).bind(record.updatedMs);
  s.bind(record.tokens).bindText(owner_);
  const Status status = s.run();
  if (!status) return status.error();
  return db_.lastInsertId();
}

Status Writer::updateConversation(const ConversationRecord& record) {
  {
    // Only a new title goes through the index.
    Statement s = db_.prepare("UPDATE conversations SET title = ? WHERE id = ? AND title <> ?");
    s.bindText(record.title).bind(record.id).bindText(record.title);
    const Status status = s.run();
    if (!status) return status;
  }
  Statement s = db_.prepare(
      "UPDATE conversations SET title_by_person = ?, pinned = ?, system_prompt = ?, settings = ?, updated_ms "
      "= ?, "
      "tokens = ? WHERE id = ?");
  s.bind(std::int64_t{record.titleByPerson}).bind(std::int64_t{record.pinned}).bindBlob(record.systemPrompt);
  s.bindText(record.settingsJson).bind(record.updatedMs).bind(record.tokens).bind(record.id);
  return runOnRow(db_, s, "conversation");
}

Status Writer::hideConversation(ConversationId id, std::int64_t nowMs) {
  Statement s = db_.prepare("UPDATE conversations SET deleted_ms = ?, owner = ? WHERE id = ?");
  s.bind(nowMs).bindText(owner_).bind(id);
  return runOnRow(db_, s, "conversation");
}

Status Writer::showConversation(ConversationId id) {
  Statement s = db_.prepare("UPDATE conversations SET deleted_ms = NULL WHERE id = ?");
  s.bind(id);
  return runOnRow(db_, s, "conversation");
}

Status Writer::purgeConversation(ConversationId id) {
  {
    Statement s = db_.prepare("DELETE FROM messages WHERE conversation = ?");
    s.bind(id);
    const Status status = s.run();
    if (!status) return status;
  }
  if (const Status status = removeDraftTexts(db_, id); !status) return status;
  Statement s = db_.prepare("DELETE FROM conversations WHERE id = ?");
  const Status status = s.bind(id).run();
  if (status && db_.changes() > 0) purged_ = true;
  return status;
}

Status Writer::addDraftText(ConversationId conversation, const std::string& vocabulary,
                            std::span<const std::int32_t> text) {
  return storage::addDraftText(db_, conversation, vocabulary, text);
}

Result<bool> Writer::mergeIndex(bool first) {
  const int before = sqlite3_total_changes(db_.handle());
  Statement s = db_.prepare("INSERT INTO search (search, rank) VALUES ('merge', ?)");
  const Status status = s.bind(std::int64_t{first ? -64 : 64}).run();
  if (!status) return status.error();
  return sqlite3_total_changes(db_.handle()) - before >= 2;
}

Status Writer::showChild(ConversationId conversation, MessageId parent, MessageId child) {
  Statement s = parent == 0 ? db_.prepare("UPDATE conversations SET chosen_child = ? WHERE id = ?")
                            : db_.prepare("UPDATE messages SET chosen_child = ? WHERE id = ?");
  return s.bind(child).bind(parent == 0 ? conversation : parent).run();
}

Result<MessageId> Writer::addMessage(const MessageRecord& record) {
  {
    Statement s = db_.prepare(
        "INSERT INTO messages (conversation, parent, role, state, content, token_ids, origins, text_bytes, "
        "sampling, "
        "stats, error, model, created_ms, owner) VALUES (?, nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
        "?)");
    s.bind(record.conversation)
        .bind(record.parent)
        .bind(std::int64_t(record.role))
        .bind(std::int64_t(record.state));
    s.bindBlob(record.content).bindBlob(intsBlob(record.tokenIds)).bindBlob(intsBlob(record.origins));
    s.bindBlob(intsBlob(record.textBytes)).bindText(record.samplingJson).bindText(record.statsJson);
    s.bindText(record.error).bindText(record.model).bind(record.createdMs);
    s.bindText(record.state == MessageState::kStreaming ? owner_ : std::string());
    const Status status = s.run();
    if (!status) return status.error();
  }
  const MessageId id = db_.lastInsertId();
  const Status status = showChild(record.conversation, record.parent, id);
  if (!status) return status.error();
  return id;
}

Status Writer::appendPart(MessageId answer, const AnswerPart& part) {
  Statement s = db_.prepare(
      "INSERT INTO answer_parts (message, content, token_ids, origins, text_bytes) "
      "SELECT id, ?, ?, ?, ? FROM messages WHERE id = ?");
  s.bindBlob(part.content).bindBlob(intsBlob(part.tokenIds)).bindBlob(intsBlob(part.origins));
  s.bindBlob(intsBlob(part.textBytes)).bind(answer);
  return runOnRow(db_, s, "message");
}

Status Writer::finishAnswer(const MessageRecord& record) {
  {
    Statement s = db_.prepare("DELETE FROM answer_parts WHERE message = ?");
    const Status status = s.bind(record.id).run();
    if (!status) return status;
  }
  Statement s = db_.prepare(
      "UPDATE messages SET state = ?, content = ?, token_ids = ?, origins = ?, text_bytes = ?, sampling = ?, "
      "stats = ?, error = ?, model = ?, owner = ? WHERE id = ?");
  s.bind(std::int64_t(record.state)).bindBlob(record.content).bindBlob(intsBlob(record.tokenIds));
  s.bindBlob(intsBlob(record.origins)).bindBlob(intsBlob(record.textBytes)).bindText(record.samplingJson);
  s.bindText(record.statsJson).bindText(record.error).bindText(record.model);
  s.bindText(record.state == MessageState::kStreaming ? owner_ : std::string()).bind(record.id);
  return runOnRow(db_, s, "message");
}

Status Writer::resumeAnswer(const MessageRecord& record) {
  MessageRecord again = record;
  again.state = MessageState::kStreaming;
  return finishAnswer(again);
}

Status Writer::removeMessage(MessageId id, MessageId shown) {
  const Result<MessageRecord> m = message(id);
  if (!m) return m.status();
  {
    Statement s = db_.prepare(
        "WITH RECURSIVE branch (id) AS (SELECT ? UNION SELECT m.id FROM messages m JOIN branch b ON m.parent "
        "= b.id) "
        "DELETE FROM messages WHERE id IN (SELECT id FROM branch)");
    const Status status = s.bind(id).run();
    if (!status) return status;
  }
  return showChild(m->conversation, m->parent, shown);
}

Status Writer::choose(MessageId id) {
  while (id != 0) {
    const Result<MessageRecord> m = message(id);
    if (!m) return m.status();
    const Status status = showChild(m->conversation, m->parent, id);
    if (!status) return status;
    id = m->parent < id ? m->parent : 0;
  }
  return {};
}

Result<ConversationId> Writer::copyPath(MessageId last, std::int64_t nowMs) {
  std::vector<MessageRecord> path;
  MessageId id = last;
  do {
    Result<MessageRecord> m = message(id);
    if (!m) return m.error();
    id = m->parent < id ? m->parent : 0;
    path.push_back(std::move(*m));
  } while (id != 0);
  Result<ConversationRecord> record = conversation(path.front().conversation);
  if (!record) return record.error();
  record->createdMs = record->updatedMs = nowMs;
  record->pinned = false;
  const Result<ConversationId> copy = addConversation(*record);
  if (!copy) return copy;

  MessageId parent = 0;
  for (auto m = path.rbegin(); m != path.rend(); ++m) {
    m->conversation = *copy;
    m->parent = parent;
    // The copy of an answer that is still being written ends where it stands.
    if (m->state == MessageState::kStreaming) m->state = MessageState::kStopped;
    const Result<MessageId> added = addMessage(*m);
    if (!added) return added.error();
    parent = *added;
  }
  return copy;
}

Result<std::int64_t> Writer::addJournal(const JournalRow& r) {
  Statement s = db_.prepare(
      "INSERT INTO journal VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
      "?, ?, ?, "
      "?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  s.bind(r.arrivedMs).bindText(r.session).bind(r.conversation).bindText(r.client).bindText(r.endpoint);
  s.bindText(r.model).bindText(r.profile).bindText(r.fingerprint).bindText(r.status).bindText(r.finishReason);
  for (const int n : {r.promptTokens, r.cachedTokens, r.completionTokens})
    s.bind(std::int64_t{n});
  for (const double ms : {r.queueMs, r.prefillMs, r.ttftMs, r.decodeMs, r.totalMs})
    s.bind(ms);
  s.bind(r.decodeRate).bind(r.prefillRate);
  for (const int n : {r.rounds, r.drafted, r.accepted})
    s.bind(std::int64_t{n});
  s.bindText(r.acceptedByJson).bind(r.tokensPerRound).bindText(r.cacheSource).bindText(r.sampling);
  s.bind(double{r.temperature}).bind(double{r.topP}).bind(r.topK).bind(double{r.minP});
  s.bind(static_cast<std::int64_t>(r.seed)).bindText(r.error).bindText(r.engineVersion).bindText(r.extraJson);
  const Status status = s.run();
  if (!status) return status.error();
  return db_.lastInsertId();
}

Result<std::int64_t> Writer::addAgreementRun(const AgreementRunRow& r) {
  Statement s = db_.prepare("INSERT INTO agreement_runs VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  s.bind(r.startedMs).bind(r.endedMs).bindText(r.client).bindText(r.model).bindText(r.fingerprint);
  s.bindText(r.kernels).bindText(r.cacheType).bind(std::int64_t{r.prompts}).bind(std::int64_t{r.tokens});
  s.bind(std::int64_t{r.passed}).bindText(r.engineVersion).bindText(r.reportJson);
  const Status status = s.run();
  if (!status) return status.error();
  return db_.lastInsertId();
}

Status Writer::setSetting(const std::string& name, const std::string& value) {
  Statement s = db_.prepare(
      "INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = "
      "excluded.value");
  return s.bindText(name).bindBlob(value).run();
}

Status Writer::sweep() {
  std::vector<MessageId> answers;
  {
    Statement s = db_.prepare("SELECT id, owner FROM messages WHERE state = 1");
    while (s.row()) {
      if (!ownerAlive(s.bytes(1))) answers.push_back(s.integer(0));
    }
    if (!s.status()) return s.status();
  }
  for (const MessageId id : answers) {
    const Result<MessageRecord> m = message(id);  // reads as kInterrupted, its parts joined
    if (!m) return m.status();
    const Status status = finishAnswer(*m);
    if (!status) return status;
  }

  std::vector<ConversationId> gone;
  {
    Statement s = db_.prepare(
        "SELECT id, owner FROM conversations c WHERE deleted_ms IS NOT NULL OR NOT EXISTS "
        "(SELECT 1 FROM messages WHERE conversation = c.id)");
    while (s.row()) {
      if (!ownerAlive(s.bytes(1))) gone.push_back(s.integer(0));
    }
    if (!s.status()) return s.status();
  }
  for (const ConversationId id : gone) {
    const Status status = purgeConversation(id);
    if (!status) return status;
  }
  return sweepDraftTexts(db_);
}

}  // namespace tandem::storage
