// Conversations as a person uses them: send, stop, regenerate, continue, edit, branch, search. Joins the
// store with an EngineBackend; knows no Qt, so the window, the terminal chat and the tests drive the same
// object.
//
// A turn is committed to the store before anything is generated: send() posts it to the store's writer
// thread, and generation starts from the writer's commit signal. The streamed tail on disk is at most one
// second short of what the listener has seen. Calls return at once and may come from any thread; the listener
// is called on inner threads, one call at a time, and must not block or call back into the service.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/service/engine_backend.h"
#include "storage/records.h"

namespace tandem::storage {
class Store;
}

namespace tandem {

using storage::ConversationId;
using storage::MessageId;

// How the answers of a conversation are made; stored with it as JSON where it differs from the defaults.
struct AnswerSettings {
  SamplingParams sampling;               // greedy by default
  bool seedGiven = false;                // false: a sampled answer gets a fresh seed, kept in its rows
  int maxTokens = 0;                     // 0: until the context is full
  int minTokens = 0;                     // the answer does not end before
  std::vector<std::string> stop = {};    // it ends before the first of these
  std::vector<TokenId> stopTokens = {};  // and with one of these
  ReasoningOptions reasoning = {};
  ConstraintSpec constraint = {};        // what each answer's text must be; not stored
  SpeculationOptions speculation;
  bool keepsTexts = true;         // ended answers and their prompts serve later drafts (docs/storage.md)
  bool responseCache = false;     // sent and edited messages may be answered from it; not stored
  bool regenerateSamples = true;  // false: Regenerate repeats with the conversation's own sampling
};

// A conversation as it is shown: the chosen path from the first message to the last.
struct ConversationView {
  storage::ConversationRecord record;
  std::vector<storage::MessageRecord> path;
};

class ConversationListener {
 public:
  virtual ~ConversationListener() = default;
  // The list changed in title, order or membership; the new list, newest first, pinned ones first.
  virtual void conversationsChanged(std::vector<storage::ConversationRecord> list) = 0;
  // The path or a message of this conversation changed other than by streaming (a turn was committed, a
  // version was chosen, an answer ended). The whole view.
  virtual void conversationChanged(ConversationView view) = 0;
  // Streaming, by message. Pieces may come two thousand times a second: gather them, drain them once a frame.
  virtual void answerQueued(MessageId answer, int ahead) = 0;
  virtual void answerPrefill(MessageId answer, int done, int total) = 0;
  virtual void answerPiece(MessageId answer, TextPiece piece) = 0;
  // Every answer that a view showed as streaming ends with exactly one answerFinished or answerFailed of its
  // id. finish == kFailed: the message is taken out of the conversation again (the prompt did not fit, or a
  // regenerated version failed before its first token); a view without it and answerFailed(0, ...) follow.
  virtual void answerFinished(MessageId answer, GenerationStats stats) = 0;
  // A request could not be done; the sentence is for the person. answer is 0 when no message belongs to it
  // (then `draft` holds the text to put back into the composer).
  virtual void answerFailed(MessageId answer, Error error, std::string draft) = 0;
  // Something about the store itself (disk full, read-only, damaged): one sentence for a banner; empty: it is
  // over.
  virtual void storeTrouble(std::string sentence) = 0;
};

class ConversationService {
 public:
  // The listener may be null. Takes the store's onTrouble(), so a store has one service with a banner.
  // REQUIRES: store and backend outlive the service.
  ConversationService(storage::Store& store, service::EngineBackend& backend, ConversationListener* listener,
                      std::string client);
  // Cancels running answers, waits for their last text to be committed (bounded by one second).
  ~ConversationService();
  ConversationService(const ConversationService&) = delete;
  ConversationService& operator=(const ConversationService&) = delete;

  void setDefaults(AnswerSettings defaults, std::string systemPrompt);

  // Asks for the list; answered by conversationsChanged.
  void refreshList();
  // Reads a conversation; answered by conversationChanged.
  void open(ConversationId id);

  // Adds the person's text at the end of the chosen path and answers it. id 0 makes a new conversation,
  // titled by the text's first words; the new id comes with conversationChanged. While an answer of this
  // conversation is being written a second send is refused with answerFailed(0, kBusy, text).
  void send(ConversationId id, std::string text);
  // Writes a further version of this answer; earlier ones stay. Samples as the settings say (temperature 0.7,
  // top-p 0.95, top-k 20, a fresh seed kept in the journal row).
  void regenerate(MessageId answer);
  // Goes on with an answer that was stopped, cut or interrupted, with its own sampling and seed, from its
  // stored ids.
  void continueAnswer(MessageId answer);
  // A new version of a message of the person's, answered anew; the old one and what followed it stay as a
  // version.
  void edit(MessageId message, std::string text);
  // Copies the path up to and with `message` into a new conversation and opens it.
  void branch(MessageId message);
  void selectVersion(MessageId message);  // shows this sibling and its own continuation
  // Shows the version so many places further (-1: the one before) than this one; stays at the ends.
  void stepVersion(MessageId message, int by);
  void stop(ConversationId id);  // within 200 ms, in any state
  void stopAll();

  void rename(ConversationId id, std::string title);
  void setPinned(ConversationId id, bool pinned);
  // Id 0: of the next conversation that send() makes.
  void setSystemPrompt(ConversationId id, std::string prompt);
  void setSettings(ConversationId id, AnswerSettings settings);
  // Hides the conversation (its running answer is stopped first); undoRemove brings it back until purge() or
  // until it is swept at the next start.
  void remove(ConversationId id);
  void undoRemove(ConversationId id);
  void purge(ConversationId id);

  // Full text over titles and messages. Answers on an inner thread; a newer search cancels an older one that
  // waits.
  void search(std::string query, std::function<void(std::vector<storage::SearchHit>)> sink);
  // Tokens the context would hold if `draft` were sent now. Of several waiting counts only the newest is
  // answered.
  void countContext(ConversationId id, std::string draft, std::function<void(Result<int>)> sink);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem
