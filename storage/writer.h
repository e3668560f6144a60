// What can be written to the store. Jobs of storage/store.h get a Writer inside a transaction on the writer
// thread; a job that returns an error is rolled back whole.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "storage/reader.h"

namespace tandem::storage {

// A further piece of an answer that is being written.
struct AnswerPart {
  std::string content;
  std::vector<std::int32_t> tokenIds;
  std::vector<std::uint8_t> origins;
  std::vector<std::uint32_t> textBytes;
};

class Writer : public Reader {
 public:
  // owner: the name of this process's store (storage/owner.h), kept with what it is still busy with.
  Writer(Database& db, std::string owner) : Reader(db), owner_(std::move(owner)) {}

  // Title, prompt, settings, pinned and times of the record; its id is given.
  Result<ConversationId> addConversation(const ConversationRecord& record);
  Status updateConversation(const ConversationRecord& record);
  Status hideConversation(ConversationId id, std::int64_t nowMs);
  Status showConversation(ConversationId id);  // undoes hideConversation; kNotFound once it is purged
  // Deletes it with its messages, their index entries and its draft texts; journal rows stay.
  Status purgeConversation(ConversationId id);

  // Adds the record below its parent and shows it there. An answer of state kStreaming belongs to this
  // process until finishAnswer.
  Result<MessageId> addMessage(const MessageRecord& record);
  Status appendPart(MessageId answer, const AnswerPart& part);  // kNotFound: the message was deleted
  // Writes the whole answer (all fields but parent, role and creation), its parts become one.
  Status finishAnswer(const MessageRecord& record);
  // Takes an ended answer up again: its state becomes kStreaming and its content what the record holds.
  Status resumeAnswer(const MessageRecord& record);
  // Removes the message with all that follows it; `shown` (0: the newest left) is shown in its place.
  Status removeMessage(MessageId id, MessageId shown);
  // Shows this message, whatever else was shown at its and its ancestors' places.
  Status choose(MessageId id);
  // Copies the conversation's settings and the messages from the first to `last` into a new conversation.
  Result<ConversationId> copyPath(MessageId last, std::int64_t nowMs);

  // Keeps a conversation's text for drafting (storage/draft_texts.h): prompt and answer as token ids.
  Status addDraftText(ConversationId conversation, const std::string& vocabulary,
                      std::span<const std::int32_t> text);

  Result<std::int64_t> addJournal(const JournalRow& row);
  Result<std::int64_t> addAgreementRun(const AgreementRunRow& row);
  Status setSetting(const std::string& name, const std::string& value);

  // What was cut short by processes that no longer run: answers become kInterrupted, hidden and empty
  // conversations are purged.
  Status sweep();

  // True when something was purged: then the index still holds the word fragments of the deleted text, until
  // mergeIndex has rewritten it.
  bool purged() const { return purged_; }
  // One short step of rewriting the index; false: done. first: the first step after a purge.
  Result<bool> mergeIndex(bool first);

 private:
  Status showChild(ConversationId conversation, MessageId parent, MessageId child);
  // Runs one statement and reports kNotFound when it changed no row.
  static Status runOnRow(Database& db, Statement& statement, const char* what);

  std::string owner_;
  bool purged_ = false;
};

}  // namespace tandem::storage
