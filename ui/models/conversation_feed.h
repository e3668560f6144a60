// What the conversation service tells the window, gathered between two frames.
//
// The service calls the listener's functions on its own threads, up to thousands of times a second. They only
// append to a locked buffer (pieces of one answer join the waiting piece) and raise a flag; the window takes
// the whole batch once a frame on the GUI thread. Owned by Session, which outlives the service that calls it.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "app/conversation/conversation_service.h"

namespace tandem::ui {

struct ListChanged {
  std::vector<storage::ConversationRecord> list;
};
struct ViewChanged {
  ConversationView view;
};
struct AnswerQueued {
  MessageId answer;
  int ahead;
};
struct AnswerPrefill {
  MessageId answer;
  int done;
  int total;
};
struct AnswerPieces {
  MessageId answer;
  TextPiece piece;  // the text and tokens of every piece since the last batch
};
struct AnswerFinished {
  MessageId answer;
  GenerationStats stats;
};
struct AnswerFailed {
  MessageId answer;
  Error error;
  std::string draft;
};
struct StoreTrouble {
  std::string sentence;
};
using FeedEvent = std::variant<ListChanged, ViewChanged, AnswerQueued, AnswerPrefill, AnswerPieces,
                               AnswerFinished, AnswerFailed, StoreTrouble>;

class ConversationFeed : public ConversationListener {
 public:
  // `wake` is called on the caller's thread when the buffer stops being empty; it must not block.
  explicit ConversationFeed(std::function<void()> wake);

  // Everything since the last call, in order. GUI thread.
  std::vector<FeedEvent> take();

  void conversationsChanged(std::vector<storage::ConversationRecord> list) override;
  void conversationChanged(ConversationView view) override;
  void answerQueued(MessageId answer, int ahead) override;
  void answerPrefill(MessageId answer, int done, int total) override;
  void answerPiece(MessageId answer, TextPiece piece) override;
  void answerFinished(MessageId answer, GenerationStats stats) override;
  void answerFailed(MessageId answer, Error error, std::string draft) override;
  void storeTrouble(std::string sentence) override;

 private:
  void add(FeedEvent event);

  std::function<void()> wake_;
  std::mutex mutex_;
  std::vector<FeedEvent> waiting_;  // guarded by mutex_
};

}  // namespace tandem::ui
