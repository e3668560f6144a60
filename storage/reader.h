// What can be read from the store. A Reader works on one connection and is handed to the jobs and queries of
// storage/store.h; it belongs to the thread that runs them. A failed read is an Error whose `field` is
// SQLite's code; a row that is not there is kNotFound.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "storage/records.h"
#include "storage/sqlite.h"

namespace tandem::storage {

class Reader {
 public:
  explicit Reader(Database& db) : db_(db) {}

  // The conversations that have a message and are not deleted: pinned ones first, then the newest first.
  Result<std::vector<ConversationRecord>> conversations();
  // Also one without messages; a deleted one is kNotFound.
  Result<ConversationRecord> conversation(ConversationId id);
  // The shown messages from the first to the last. The text of an answer that is being written is what has
  // reached the disk; one whose writer no longer runs reads as kInterrupted.
  Result<std::vector<MessageRecord>> path(ConversationId id);
  Result<MessageRecord> message(MessageId id);
  // All versions of this message, itself included, oldest first.
  Result<std::vector<MessageRecord>> versions(MessageId id);

  // Messages and titles that hold every word of the query (case of letters aside), newest conversation first,
  // title hits first within one. Words of three characters and more use the index; shorter ones are searched
  // for in the text and fold the case of ASCII letters only. An empty query finds nothing.
  Result<std::vector<SearchHit>> search(const std::string& query, int limit);

  // The newest rows first; before: only rows with a smaller id (0: from the newest).
  Result<std::vector<JournalRow>> journal(int limit, std::int64_t before = 0);
  Result<std::vector<AgreementRunRow>> agreementRuns(int limit, std::int64_t before = 0);  // the same
  Result<std::optional<std::string>> setting(const std::string& name);
  // The shown child of a message (or of the conversation, parent 0); 0: none. Where none was chosen, or the
  // chosen one is gone, it is the newest.
  Result<MessageId> shownChild(ConversationId conversation, MessageId parent);

 protected:
  Database& db_;
};

}  // namespace tandem::storage
