#include "ui/models/conversation_feed.h"

#include <utility>

namespace tandem::ui {

ConversationFeed::ConversationFeed(std::function<void()> wake) : wake_(std::move(wake)) {}

std::vector<FeedEvent> ConversationFeed::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(waiting_, {});
}

void ConversationFeed::add(FeedEvent event) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = waiting_.empty();
    waiting_.push_back(std::move(event));
  }
  if (first) {
    wake_();
  }
}

void ConversationFeed::conversationsChanged(std::vector<storage::ConversationRecord> list) {
  add(ListChanged{std::move(list)});
}

void ConversationFeed::conversationChanged(ConversationView view) {
  add(ViewChanged{std::move(view)});
}

void ConversationFeed::answerQueued(MessageId answer, int ahead) {
  add(AnswerQueued{answer, ahead});
}

void ConversationFeed::answerPrefill(MessageId answer, int done, int total) {
  {
    const std::lock_guard lock(mutex_);
    if (!waiting_.empty()) {
      auto* last = std::get_if<AnswerPrefill>(&waiting_.back());
      if (last != nullptr && last->answer == answer) {
        last->done = done;
        last->total = total;
        return;
      }
    }
  }
  add(AnswerPrefill{answer, done, total});
}

void ConversationFeed::answerPiece(MessageId answer, TextPiece piece) {
  {
    const std::lock_guard lock(mutex_);
    if (!waiting_.empty()) {
      auto* last = std::get_if<AnswerPieces>(&waiting_.back());
      if (last != nullptr && last->answer == answer) {
        last->piece.text += piece.text;
        last->piece.tokens.insert(last->piece.tokens.end(), piece.tokens.begin(), piece.tokens.end());
        return;
      }
    }
  }
  add(AnswerPieces{answer, std::move(piece)});
}

void ConversationFeed::answerFinished(MessageId answer, GenerationStats stats) {
  add(AnswerFinished{answer, stats});
}

void ConversationFeed::answerFailed(MessageId answer, Error error, std::string draft) {
  add(AnswerFailed{answer, std::move(error), std::move(draft)});
}

void ConversationFeed::storeTrouble(std::string sentence) {
  add(StoreTrouble{std::move(sentence)});
}

}  // namespace tandem::ui
