// The inside of ConversationService: one thread that owns all state and runs the inbox's tasks. Calls,
// commits of the store and events of the backend arrive there as tasks, the listener is called from there,
// and the times at which streamed text goes to disk are kept there.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "app/conversation/conversation_service.h"
#include "app/conversation/inbox.h"
#include "app/conversation/turn.h"
#include "storage/store.h"

namespace tandem {

class ConversationService::Impl {
 public:
  Impl(storage::Store& store, service::EngineBackend& backend, ConversationListener* listener,
       std::string client);
  ~Impl();

  // Runs the task on the service's thread. Any thread.
  void run(Inbox::Task task) { inbox_->push(std::move(task)); }
  std::uint64_t nextCount() { return ++newestCount_; }

  // Everything below: the service's thread.

  void setDefaults(AnswerSettings defaults, std::string systemPrompt);
  void refreshList();
  void open(ConversationId id);
  void begin(Turn::Kind kind, ConversationId conversation, MessageId source, std::string text);
  // Finds the conversation of the message first; text as for begin().
  void beginAt(Turn::Kind kind, MessageId source, std::string text);
  void branch(MessageId message);
  void selectVersion(MessageId message);
  void stepVersion(MessageId message, int by);
  void stop(ConversationId id);
  void stopAll();
  void rename(ConversationId id, std::string title);
  void setPinned(ConversationId id, bool pinned);
  void setSystemPrompt(ConversationId id, std::string prompt);
  void setSettings(ConversationId id, AnswerSettings settings);
  void remove(ConversationId id);
  void undoRemove(ConversationId id);
  void purge(ConversationId id);
  void search(std::string query, std::function<void(std::vector<storage::SearchHit>)> sink);
  void countContext(std::uint64_t number, ConversationId id, std::string draft,
                    std::function<void(Result<int>)> sink);

 private:
  using TurnPtr = std::shared_ptr<Turn>;
  using Clock = std::chrono::steady_clock;

  // Streamed text goes to disk when its oldest piece has waited so long: with a commit's own time well below
  // the second that is promised.
  static constexpr std::chrono::milliseconds kSaveAfter{300};

  // A request about a message whose conversation is being looked up; what was stopped meanwhile.
  struct Lookup {
    ConversationId conversation = 0;
    std::vector<ConversationId> stops;
  };

  void loop();
  std::optional<Clock::time_point> nextDeadline() const;
  void close();
  // While closing: true when nothing is left to wait for.
  bool closed(Clock::time_point started);

  // turns.cpp: the way of a turn.
  void onWritten(const TurnPtr& turn, const Status& status);
  void submit(const TurnPtr& turn);
  void onEvent(const TurnPtr& turn, service::GenerationEvent event);
  void onPiece(Turn& turn, TextPiece piece);
  void onFinished(const TurnPtr& turn, const GenerationStats& stats);
  void onFailed(const TurnPtr& turn, const Error& error, const GenerationStats& stats);
  void endAs(const TurnPtr& turn, storage::MessageState state, const GenerationStats& stats);
  // Posts the end; `told` runs after the view of what was committed has been told.
  void postEnd(const TurnPtr& turn, std::shared_ptr<const TurnEnd> end, Inbox::Task told);
  void stopTurn(const TurnPtr& turn);
  void drop(const TurnPtr& turn);
  void saveDue(Clock::time_point now);
  void savePart(const TurnPtr& turn);
  void refuse(const Turn& turn, const Error& error);
  // Runs the task at once, or stops the conversation's answer and runs it when that has ended.
  void whenStopped(ConversationId id, Inbox::Task task);

  // Posts a job; `done` runs on the service's thread.
  void write(storage::Store::Job job, std::function<void(Status)> done);
  void tell(ConversationView view);
  // Posts a job that changes what a conversation shows, then tells its view.
  void writeAndShow(std::function<Result<ConversationId>(storage::Writer&)> job);
  // Changes the conversation's row.
  void change(ConversationId id, std::function<void(storage::ConversationRecord&)> edit);
  storage::JournalRow journalOf(const Turn& turn, const GenerationStats& stats,
                                const std::optional<Error>& error);

  storage::Store& store_;
  service::EngineBackend& backend_;
  ConversationListener* listener_;
  const std::string client_;
  const std::string session_;
  std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
  std::atomic<std::uint64_t> newestCount_ = 0;

  AnswerSettings defaults_;
  std::string defaultPrompt_;
  // What setSettings and setSystemPrompt gave for the conversation that is not yet begun.
  std::optional<AnswerSettings> nextSettings_;
  std::optional<std::string> nextPrompt_;

  std::vector<std::shared_ptr<Lookup>> lookups_;
  std::vector<TurnPtr> starting_;                      // new conversations before their commit
  std::unordered_map<ConversationId, TurnPtr> turns_;  // until the answer has ended
  std::unordered_map<MessageId, TurnPtr> ending_;      // until the end is on disk
  std::unordered_map<ConversationId, int> told_;       // how often its view was told
  bool listAsked_ = false, listAgain_ = false;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace tandem
