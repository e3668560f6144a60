// What the store's tests share: short ways to write and read, and stores made by hand.
#pragma once

#include <QString>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "storage/store.h"

namespace tandem::testing {

using namespace storage;

// The status's sentence, for QVERIFY2.
inline const char* sentence(const Status& status) {
  static thread_local std::string text;
  text = status ? "ok" : status.error().describe();
  return text.c_str();
}

inline std::string bytesOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline MessageRecord message(ConversationId conversation, MessageId parent, Role role, std::string content) {
  MessageRecord m;
  m.conversation = conversation;
  m.parent = parent;
  m.role = role;
  m.content = std::move(content);
  m.createdMs = 1000;
  return m;
}

struct Turn {
  ConversationId conversation = 0;
  MessageId question = 0;
  MessageId answer = 0;
};

// A question and its answer, in a new conversation or at the end of `conversation`.
inline Result<Turn> addTurn(Writer& writer, ConversationId conversation, const std::string& question,
                            const std::string& answer, MessageState state = MessageState::kComplete) {
  Turn turn;
  turn.conversation = conversation;
  MessageId last = 0;
  if (conversation == 0) {
    ConversationRecord record;
    record.title = question.substr(0, 40);
    record.createdMs = record.updatedMs = 1000;
    const Result<ConversationId> id = writer.addConversation(record);
    if (!id) return id.error();
    turn.conversation = *id;
  } else {
    const auto path = writer.path(conversation);
    if (!path) return path.error();
    last = path->empty() ? 0 : path->back().id;
  }
  const Result<MessageId> q = writer.addMessage(message(turn.conversation, last, Role::kUser, question));
  if (!q) return q.error();
  MessageRecord a = message(turn.conversation, *q, Role::kAssistant, answer);
  a.state = state;
  const Result<MessageId> id = writer.addMessage(a);
  if (!id) return id.error();
  turn.question = *q;
  turn.answer = *id;
  return turn;
}

// The same in one call; the turn's ids are 0 when the write failed.
inline Turn writeTurn(Store& store, ConversationId conversation, const std::string& question,
                      const std::string& answer, MessageState state = MessageState::kComplete) {
  Turn turn;
  const Status status = store.write([&](Writer& writer) {
    const Result<Turn> added = addTurn(writer, conversation, question, answer, state);
    if (added) turn = *added;
    return added.status();
  });
  return status ? turn : Turn();
}

inline std::vector<MessageRecord> pathOf(Store& store, ConversationId conversation) {
  std::vector<MessageRecord> path;
  const Status status = store.read([&](Reader& reader) {
    auto read = reader.path(conversation);
    if (read) path = std::move(*read);
    return read.status();
  });
  return status ? path : std::vector<MessageRecord>();
}

inline std::vector<SearchHit> hitsOf(Store& store, const std::string& query) {
  std::vector<SearchHit> hits;
  const Status status = store.read([&](Reader& reader) {
    auto found = reader.search(query, 100);
    if (found) hits = std::move(*found);
    return found.status();
  });
  return status ? hits : std::vector<SearchHit>();
}

inline std::vector<ConversationRecord> listOf(Store& store) {
  std::vector<ConversationRecord> list;
  const Status status = store.read([&](Reader& reader) {
    auto read = reader.conversations();
    if (read) list = std::move(*read);
    return read.status();
  });
  return status ? list : std::vector<ConversationRecord>();
}

// The one value of a query on the file itself, by a connection of the test's own; "ERROR: …" when it fails.
inline std::string askFile(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  sqlite3_open(path.c_str(), &db);
  sqlite3_busy_timeout(db, 5000);
  std::string value;
  char* error = nullptr;
  sqlite3_exec(
      db, sql.c_str(),
      [](void* out, int count, char** values, char**) {
        if (count > 0 && values[0]) *static_cast<std::string*>(out) = values[0];
        return 0;
      },
      &value, &error);
  if (error) value = std::string("ERROR: ") + error;
  sqlite3_free(error);
  sqlite3_close(db);
  return value;
}

// A connection of the test's own that holds the write lock while it lives.
class WriteLock {
 public:
  explicit WriteLock(const std::string& path, const char* mode = "BEGIN IMMEDIATE") {
    sqlite3_open(path.c_str(), &db_);
    held_ = sqlite3_exec(db_, mode, nullptr, nullptr, nullptr) == SQLITE_OK;
  }
  ~WriteLock() { sqlite3_close(db_); }
  bool held() const { return held_; }

 private:
  sqlite3* db_ = nullptr;
  bool held_ = false;
};

}  // namespace tandem::testing
