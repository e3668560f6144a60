// The victim of the kill test: chats with the fake backend in several conversations at once and tells on
// standard output, line by line, what it was told is on disk or has been shown, until it is killed.
//
//   T conversation question answer prompt   a turn was committed (hex of the prompt's bytes)
//   P answer bytes nanoseconds              so much of the answer has been shown at that time
//   (CLOCK_MONOTONIC) E answer bytes                          the answer's end is on disk
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>

#include "app/conversation/conversation_service.h"
#include "storage/store.h"
#include "tests/conversation/fake_backend.h"
#include "tests/conversation/kill9_text.h"

using namespace tandem;
using namespace tandem::testing;

namespace {

// One write() per line: lines of several threads never mix, and none is held back in a buffer.
void say(const std::string& line) {
  if (write(STDOUT_FILENO, line.data(), line.size()) != static_cast<ssize_t>(line.size())) _exit(3);
}

class Teller : public ConversationListener {
 public:
  void conversationsChanged(std::vector<storage::ConversationRecord>) override {}
  void conversationChanged(ConversationView view) override {
    const std::lock_guard lock(mutex_);
    const storage::MessageRecord& last = view.path.back();
    if (last.state == storage::MessageState::kStreaming) {
      if (!told_.insert(last.id).second) return;
      const storage::MessageRecord& question = view.path[view.path.size() - 2];
      say("T " + std::to_string(view.record.id) + " " + std::to_string(question.id) + " " +
          std::to_string(last.id) + " " + hexOf(question.content) + "\n");
    } else {
      say("E " + std::to_string(last.id) + " " + std::to_string(last.content.size()) + "\n");
      idle_[view.record.id] = last.id;
    }
  }
  void answerQueued(MessageId, int) override {}
  void answerPrefill(MessageId, int, int) override {}
  void answerPiece(MessageId answer, TextPiece piece) override {
    const std::lock_guard lock(mutex_);
    const std::size_t bytes = shown_[answer] += piece.text.size();
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    say("P " + std::to_string(answer) + " " + std::to_string(bytes) + " " +
        std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()) + "\n");
  }
  void answerFinished(MessageId, GenerationStats) override {}
  void answerFailed(MessageId, Error error, std::string) override {
    std::fprintf(stderr, "failed: %s\n", error.describe().c_str());
    _exit(4);
  }
  void storeTrouble(std::string sentence) override {
    std::fprintf(stderr, "trouble: %s\n", sentence.c_str());
    _exit(5);
  }

  // A conversation whose answer has ended, with that answer; taken once.
  std::pair<ConversationId, MessageId> takeIdle() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return {0, 0};
    const auto idle = *idle_.begin();
    idle_.erase(idle_.begin());
    return idle;
  }

 private:
  std::mutex mutex_;
  std::set<MessageId> told_;
  std::map<ConversationId, MessageId> idle_;
  std::map<MessageId, std::size_t> shown_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::mt19937 random(static_cast<unsigned>(std::atoll(argv[2])));
  auto store = storage::Store::open(argv[1]);
  if (!store || !(*store)->trouble().empty()) return 6;

  FakeBackend backend;
  auto model = *backend.model();
  model.contextLength = 1 << 30;
  backend.setModel(model);
  backend.setScript([&random](const service::GenerateRequest&) {
    FakeAnswer answer;
    answer.text = kAnswerText;
    answer.endless = true;
    constexpr double kRates[] = {50, 300, 1000, 2000};
    answer.tokensPerSecond = kRates[random() % 4];
    answer.tokensPerPiece = 1 + static_cast<int>(random() % 4);
    return answer;
  });
  Teller teller;
  ConversationService service(**store, backend, &teller, "kill9");
  AnswerSettings settings;
  settings.maxTokens = 400;
  service.setDefaults(settings, "");
  for (int i = 0; i < 3; ++i)
    service.send(0, "start " + std::to_string(i) + " of " + argv[2]);
  for (int i = 0;; ++i) {
    const auto [conversation, answer] = teller.takeIdle();
    if (conversation == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    } else if (i % 3 == 2) {
      service.regenerate(answer);
    } else {
      service.send(conversation, "turn " + std::to_string(i) + " of " + argv[2]);
    }
  }
}
