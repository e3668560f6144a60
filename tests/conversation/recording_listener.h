// A listener that keeps what it was told, for tests to wait on and look at. Needs no Qt.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "app/conversation/conversation_service.h"

namespace tandem::testing {

class RecordingListener : public ConversationListener {
 public:
  struct Failure {
    MessageId answer;
    Error error;
    std::string draft;
  };
  struct Seen {
    std::map<ConversationId, ConversationView> views;  // the newest of each
    ConversationId newest = 0;                         // of the newest view
    std::vector<storage::ConversationRecord> list;
    int lists = 0;
    std::map<MessageId, std::string> text;  // pieces, joined
    std::map<MessageId, std::vector<TokenId>> ids;
    std::map<MessageId, int> queued, prefilled;
    std::map<MessageId, GenerationStats> finished;
    std::map<MessageId, int> finishes;
    std::vector<Failure> failures;
    std::vector<std::string> troubles;
    bool pieceBeforeView = false;  // a piece of an answer that no view had shown

    // The newest view's messages; empty when there is none.
    const std::vector<storage::MessageRecord>& path() const {
      static const std::vector<storage::MessageRecord> kNone;
      const auto found = views.find(newest);
      return found == views.end() ? kNone : found->second.path;
    }
  };

  // Waits until the predicate holds for what was seen; false when it does not within the time.
  template <class Predicate>
  bool waitFor(Predicate predicate, std::chrono::milliseconds timeout = std::chrono::seconds(10)) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, timeout, [&] { return predicate(static_cast<const Seen&>(seen_)); });
  }
  Seen seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
  }
  bool overlapped() const { return overlapped_; }  // two calls at once

  void conversationsChanged(std::vector<storage::ConversationRecord> list) override {
    note([&](Seen& seen) {
      seen.list = std::move(list);
      ++seen.lists;
    });
  }
  void conversationChanged(ConversationView view) override {
    note([&](Seen& seen) {
      seen.newest = view.record.id;
      for (const auto& message : view.path)
        seen.text.try_emplace(message.id);
      seen.views[view.record.id] = std::move(view);
    });
  }
  void answerQueued(MessageId answer, int) override {
    note([&](Seen& seen) { ++seen.queued[answer]; });
  }
  void answerPrefill(MessageId answer, int, int) override {
    note([&](Seen& seen) { ++seen.prefilled[answer]; });
  }
  void answerPiece(MessageId answer, TextPiece piece) override {
    note([&](Seen& seen) {
      if (!seen.text.contains(answer)) seen.pieceBeforeView = true;
      seen.text[answer] += piece.text;
      for (const PieceToken& token : piece.tokens)
        seen.ids[answer].push_back(token.id);
    });
  }
  void answerFinished(MessageId answer, GenerationStats stats) override {
    note([&](Seen& seen) {
      seen.finished[answer] = stats;
      ++seen.finishes[answer];
    });
  }
  void answerFailed(MessageId answer, Error error, std::string draft) override {
    note([&](Seen& seen) { seen.failures.push_back({answer, std::move(error), std::move(draft)}); });
  }
  void storeTrouble(std::string sentence) override {
    note([&](Seen& seen) { seen.troubles.push_back(std::move(sentence)); });
  }

 private:
  template <class Change>
  void note(Change change) {
    if (inside_.exchange(true)) overlapped_ = true;
    {
      const std::lock_guard lock(mutex_);
      change(seen_);
    }
    changed_.notify_all();
    inside_ = false;
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Seen seen_;
  std::atomic<bool> inside_ = false, overlapped_ = false;
};

}  // namespace tandem::testing
