// A store in a folder of its own, a fake backend and a conversation service on top, with short ways to drive
// them. The tests of this folder derive from it.
#pragma once

#include <QTemporaryDir>
#include <QTest>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/store.h"
#include "tests/conversation/fake_backend.h"
#include "tests/conversation/recording_listener.h"

namespace tandem::testing {

using storage::MessageState;
using storage::Role;
using Seen = RecordingListener::Seen;

class ConversationFixture {
 protected:
  void start(storage::StoreOptions options = {}) {
    dir_ = std::make_unique<QTemporaryDir>();
    path_ = dir_->filePath("tandem.db").toStdString();
    backend_ = std::make_unique<FakeBackend>();
    openStore(options);
  }
  void openStore(storage::StoreOptions options = {}) {
    auto opened = storage::Store::open(path_, options);
    QVERIFY(opened.ok());
    store_ = std::move(*opened);
    listener_ = std::make_unique<RecordingListener>();
    service_ = std::make_unique<ConversationService>(*store_, *backend_, listener_.get(), "window");
  }
  void finish() {
    if (listener_ && service_) {
      QVERIFY(!listener_->overlapped());
      QVERIFY(!listener_->seen().pieceBeforeView);
    }
    service_.reset();
    store_.reset();
    backend_.reset();
  }

  // The answer's rate and length; see FakeAnswer.
  void setAnswer(std::string text, double tokensPerSecond = 0, bool endless = false) {
    FakeAnswer answer;
    answer.text = std::move(text);
    answer.tokensPerSecond = tokensPerSecond;
    answer.endless = endless;
    backend_->setAnswer(answer);
  }

  // Sends, and waits until the conversation's newest message is an ended answer; its record.
  storage::MessageRecord ask(ConversationId id, const std::string& text) {
    const ConversationId shown = seen().newest;
    const std::size_t before = id == 0 ? 0 : seen().views[id].path.size();
    service_->send(id, text);
    const bool ended = listener_->waitFor([&](const Seen& s) {
      const auto& path = s.path();
      return (id == 0 ? s.newest != shown : s.newest == id) && path.size() >= before + 2 &&
             isEnded(path.back()) && path[path.size() - 2].content == text;
    });
    return ended ? seen().path().back() : storage::MessageRecord();
  }
  // Waits until the shown conversation's last message is an ended answer other than `before` was.
  storage::MessageRecord nextEnd(int finishesBefore) {
    const bool ended = listener_->waitFor([&](const Seen& s) {
      return !s.path().empty() && isEnded(s.path().back()) && finishCount(s) > finishesBefore;
    });
    return ended ? seen().path().back() : storage::MessageRecord();
  }
  // Waits until so many bytes of the newest view's last answer have been streamed; its id.
  MessageId streaming(std::size_t bytes) {
    MessageId answer = 0;
    const bool streams = listener_->waitFor([&](const Seen& s) {
      if (s.path().empty() || s.path().back().state != MessageState::kStreaming) return false;
      answer = s.path().back().id;
      const auto text = s.text.find(answer);
      return text != s.text.end() && text->second.size() >= bytes;
    });
    return streams ? answer : 0;
  }
  // Waits for the newest refusal or failure.
  std::optional<RecordingListener::Failure> failure(std::size_t number = 1) {
    if (!listener_->waitFor([&](const Seen& s) { return s.failures.size() >= number; })) return std::nullopt;
    return seen().failures[number - 1];
  }

  Seen seen() const { return listener_->seen(); }
  static bool isEnded(const storage::MessageRecord& m) {
    return m.role == Role::kAssistant && m.state != MessageState::kStreaming;
  }
  static int finishCount(const Seen& s) {
    int count = static_cast<int>(s.failures.size());
    for (const auto& [answer, times] : s.finishes)
      count += times;
    return count;
  }
  std::vector<storage::MessageRecord> stored(ConversationId id) {
    std::vector<storage::MessageRecord> path;
    const Status status = store_->read([&](storage::Reader& reader) {
      auto read = reader.path(id);
      if (read) path = std::move(*read);
      return read.status();
    });
    return status ? path : std::vector<storage::MessageRecord>();
  }
  // The journal, oldest row first.
  std::vector<storage::JournalRow> journal() {
    std::vector<storage::JournalRow> rows;
    const Status status = store_->read([&](storage::Reader& reader) {
      auto read = reader.journal(1000);
      if (read) rows.assign(read->rbegin(), read->rend());
      return read.status();
    });
    return status ? rows : std::vector<storage::JournalRow>();
  }

  std::unique_ptr<QTemporaryDir> dir_;
  std::string path_;
  std::unique_ptr<FakeBackend> backend_;
  std::unique_ptr<storage::Store> store_;
  std::unique_ptr<RecordingListener> listener_;
  std::unique_ptr<ConversationService> service_;
};

}  // namespace tandem::testing
