#include "storage/reader.h"

#include <string_view>

#include "storage/blobs.h"
#include "storage/owner.h"

namespace tandem::storage {

namespace {

const std::string kSelectConversation =
    "SELECT id, title, title_by_person, pinned, system_prompt, settings, created_ms, updated_ms, tokens "
    "FROM conversations c WHERE deleted_ms IS NULL AND ";

ConversationRecord conversationOf(const Statement& s) {
  ConversationRecord r;
  r.id = s.integer(0);
  r.title = s.bytes(1);
  r.titleByPerson = s.integer(2) != 0;
  r.pinned = s.integer(3) != 0;
  r.systemPrompt = s.bytes(4);
  r.settingsJson = s.bytes(5);
  r.createdMs = s.integer(6);
  r.updatedMs = s.integer(7);
  r.tokens = s.integer(8);
  return r;
}

MessageRecord messageOf(const Statement& s) {
  MessageRecord m;
  m.id = s.integer(0);
  m.conversation = s.integer(1);
  m.parent = s.integer(2);
  m.role = s.integer(3) == 1 ? Role::kAssistant : Role::kUser;
  m.state = static_cast<MessageState>(s.integer(4));
  m.content = s.bytes(5);
  appendInts(s.bytes(6), m.tokenIds);
  appendInts(s.bytes(7), m.origins);
  appendInts(s.bytes(8), m.textBytes);
  m.samplingJson = s.bytes(9);
  m.statsJson = s.bytes(10);
  m.error = s.bytes(11);
  m.model = s.bytes(12);
  m.createdMs = s.integer(13);
  return m;
}

JournalRow journalOf(const Statement& s) {
  JournalRow r;
  int c = 0;
  const auto count = [&] { return static_cast<int>(s.integer(c++)); };
  r.id = s.integer(c++);
  r.arrivedMs = s.integer(c++);
  r.session = s.bytes(c++);
  r.conversation = s.integer(c++);
  r.client = s.bytes(c++);
  r.endpoint = s.bytes(c++);
  r.model = s.bytes(c++);
  r.profile = s.bytes(c++);
  r.fingerprint = s.bytes(c++);
  r.status = s.bytes(c++);
  r.finishReason = s.bytes(c++);
  r.promptTokens = count();
  r.cachedTokens = count();
  r.completionTokens = count();
  r.queueMs = s.real(c++);
  r.prefillMs = s.real(c++);
  r.ttftMs = s.real(c++);
  r.decodeMs = s.real(c++);
  r.totalMs = s.real(c++);
  r.decodeRate = s.real(c++);
  r.prefillRate = s.real(c++);
  r.rounds = count();
  r.drafted = count();
  r.accepted = count();
  r.acceptedByJson = s.bytes(c++);
  r.tokensPerRound = s.real(c++);
  r.cacheSource = s.bytes(c++);
  r.sampling = s.bytes(c++);
  r.temperature = static_cast<float>(s.real(c++));
  r.topP = static_cast<float>(s.real(c++));
  r.topK = s.integer(c++);
  r.minP = static_cast<float>(s.real(c++));
  r.seed = static_cast<std::uint64_t>(s.integer(c++));
  r.error = s.bytes(c++);
  r.engineVersion = s.bytes(c++);
  r.extraJson = s.bytes(c++);
  return r;
}

Error notFound(const char* what) {
  return Error{ErrorCode::kNotFound, std::string("This ") + what + " no longer exists.", "id", std::nullopt};
}

}  // namespace

Result<std::vector<ConversationRecord>> Reader::conversations() {
  Statement s = db_.prepare(kSelectConversation +
                            "EXISTS (SELECT 1 FROM messages WHERE conversation = c.id) "
                            "ORDER BY pinned DESC, updated_ms DESC, id DESC");
  std::vector<ConversationRecord> list;
  while (s.row())
    list.push_back(conversationOf(s));
  if (!s.status()) return s.status().error();
  return list;
}

Result<ConversationRecord> Reader::conversation(ConversationId id) {
  Statement s = db_.prepare(kSelectConversation + "id = ?");
  s.bind(id);
  if (s.row()) return conversationOf(s);
  return s.status() ? notFound("conversation") : s.status().error();
}

Result<MessageRecord> Reader::message(MessageId id) {
  MessageRecord m;
  {
    Statement s = db_.prepare(
        "SELECT id, conversation, parent, role, state, content, token_ids, origins, text_bytes, sampling, "
        "stats, "
        "error, model, created_ms, owner FROM messages WHERE id = ?");
    s.bind(id);
    if (!s.row()) return s.status() ? notFound("message") : s.status().error();
    m = messageOf(s);
    if (m.state == MessageState::kStreaming && !ownerAlive(s.bytes(14))) m.state = MessageState::kInterrupted;
  }
  {
    Statement s = db_.prepare(
        "SELECT content, token_ids, origins, text_bytes FROM answer_parts WHERE message = ? ORDER BY id");
    s.bind(id);
    while (s.row()) {
      m.content += s.bytes(0);
      appendInts(s.bytes(1), m.tokenIds);
      appendInts(s.bytes(2), m.origins);
      appendInts(s.bytes(3), m.textBytes);
    }
    if (!s.status()) return s.status().error();
  }
  Statement s = db_.prepare(
      "SELECT count(*), coalesce(sum(id <= ?), 0) FROM messages WHERE conversation = ? AND parent IS "
      "nullif(?, 0)");
  s.bind(id).bind(m.conversation).bind(m.parent);
  if (s.row()) {
    m.versionCount = static_cast<int>(s.integer(0));
    m.version = static_cast<int>(s.integer(1));
  }
  if (!s.status()) return s.status().error();
  return m;
}

Result<MessageId> Reader::shownChild(ConversationId conversation, MessageId parent) {
  Statement s = parent == 0 ? db_.prepare(
                                  "SELECT m.id FROM messages m JOIN conversations p ON p.id = m.conversation "
                                  "WHERE m.conversation = ? AND m.parent IS nullif(?, 0) "
                                  "ORDER BY m.id = p.chosen_child DESC, m.id DESC LIMIT 1")
                            : db_.prepare(
                                  "SELECT m.id FROM messages m JOIN messages p ON p.id = m.parent "
                                  "WHERE m.conversation = ? AND m.parent = ? "
                                  "ORDER BY m.id = p.chosen_child DESC, m.id DESC LIMIT 1");
  s.bind(conversation).bind(parent);
  const MessageId child = s.row() ? s.integer(0) : 0;
  if (!s.status()) return s.status().error();
  return child;
}

Result<std::vector<MessageRecord>> Reader::path(ConversationId id) {
  std::vector<MessageRecord> path;
  MessageId last = 0;
  for (;;) {
    const Result<MessageId> child = shownChild(id, last);
    if (!child) return child.error();
    // A child is always younger than its parent; anything else is damage, and would go round for ever.
    if (*child <= last) return path;
    Result<MessageRecord> m = message(*child);
    if (!m) return m.error();
    path.push_back(std::move(*m));
    last = *child;
  }
}

Result<std::vector<MessageRecord>> Reader::versions(MessageId id) {
  std::vector<MessageId> ids;
  {
    Statement s = db_.prepare(
        "SELECT m.id FROM messages m JOIN messages one ON one.id = ? "
        "WHERE m.conversation = one.conversation AND m.parent IS one.parent ORDER BY m.id");
    s.bind(id);
    while (s.row())
      ids.push_back(s.integer(0));
    if (!s.status()) return s.status().error();
  }
  std::vector<MessageRecord> versions;
  for (const MessageId version : ids) {
    Result<MessageRecord> m = message(version);
    if (!m) return m.error();
    versions.push_back(std::move(*m));
  }
  if (versions.empty()) return notFound("message");
  return versions;
}

Result<std::vector<JournalRow>> Reader::journal(int limit, std::int64_t before) {
  Statement s = db_.prepare("SELECT * FROM journal WHERE ? = 0 OR id < ? ORDER BY id DESC LIMIT ?");
  s.bind(before).bind(before).bind(std::int64_t{limit});
  std::vector<JournalRow> rows;
  while (s.row())
    rows.push_back(journalOf(s));
  if (!s.status()) return s.status().error();
  return rows;
}

Result<std::vector<AgreementRunRow>> Reader::agreementRuns(int limit, std::int64_t before) {
  Statement s = db_.prepare("SELECT * FROM agreement_runs WHERE ? = 0 OR id < ? ORDER BY id DESC LIMIT ?");
  s.bind(before).bind(before).bind(std::int64_t{limit});
  std::vector<AgreementRunRow> rows;
  while (s.row()) {
    AgreementRunRow r;
    r.id = s.integer(0);
    r.startedMs = s.integer(1);
    r.endedMs = s.integer(2);
    r.client = s.bytes(3);
    r.model = s.bytes(4);
    r.fingerprint = s.bytes(5);
    r.kernels = s.bytes(6);
    r.cacheType = s.bytes(7);
    r.prompts = static_cast<int>(s.integer(8));
    r.tokens = static_cast<int>(s.integer(9));
    r.passed = s.integer(10) != 0;
    r.engineVersion = s.bytes(11);
    r.reportJson = s.bytes(12);
    rows.push_back(std::move(r));
  }
  if (!s.status()) return s.status().error();
  return rows;
}

Result<std::optional<std::string>> Reader::setting(const std::string& name) {
  Statement s = db_.prepare("SELECT value FROM settings WHERE name = ?");
  s.bindText(name);
  std::optional<std::string> value;
  if (s.row()) value = s.bytes(0);
  if (!s.status()) return s.status().error();
  return value;
}

}  // namespace tandem::storage
