// Store, conversation service and fake backend under load from many threads, for ThreadSanitizer: people who
// send, stop, regenerate, rename, remove, search and count at random, while others open and close services on
// the same store. A plain program without Qt; exit status 1 when something is lost or wrong.
//
//   tandem_stress_storage [SECONDS]
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "storage/store.h"
#include "tests/conversation/fake_backend.h"
#include "tests/conversation/recording_listener.h"

using namespace tandem;
using namespace tandem::testing;
using namespace std::chrono_literals;

namespace {

std::atomic<bool> stopping = false;
std::atomic<int> failedReads = 0;

// Does one random thing to one of the conversations seen so far.
void act(ConversationService& service, const RecordingListener::Seen& seen, std::mt19937& random) {
  ConversationId id = 0;
  MessageId message = 0;
  if (!seen.views.empty()) {
    auto view = seen.views.begin();
    std::advance(view, random() % seen.views.size());
    id = view->first;
    const auto& path = view->second.path;
    if (!path.empty()) message = path[random() % path.size()].id;
  }
  switch (random() % 16) {
    case 0:
    case 1:
    case 2:
      return service.send(random() % 4 == 0 ? 0 : id, "words from a person " + std::to_string(random()));
    case 3:
      return service.stop(id);
    case 4:
      return service.regenerate(message);
    case 5:
      return service.continueAnswer(message);
    case 6:
      return service.edit(message, "other words " + std::to_string(random()));
    case 7:
      return service.branch(message);
    case 8:
      return service.stepVersion(message, random() % 2 == 0 ? -1 : 1);
    case 9:
      return service.search("person " + std::to_string(random() % 100),
                            [](std::vector<storage::SearchHit>) {});
    case 10:
      return service.countContext(id, "draft", [](Result<int>) {});
    case 11:
      return service.open(id);
    case 12:
      service.rename(id, "title " + std::to_string(random()));
      return service.setPinned(id, random() % 2 == 0);
    case 13:
      service.remove(id);
      return random() % 2 == 0 ? service.undoRemove(id) : service.purge(id);
    case 14:
      service.setSystemPrompt(id, "prompt " + std::to_string(random()));
      return service.setDefaults(AnswerSettings(), "default prompt");
    default:
      return random() % 8 == 0 ? service.stopAll() : service.refreshList();
  }
}

void person(ConversationService& service, RecordingListener& listener, unsigned seed) {
  std::mt19937 random(seed);
  while (!stopping) {
    act(service, listener.seen(), random);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 4000));
  }
}

// Services come and go while the store stays.
void visitor(storage::Store& store, service::EngineBackend& backend, unsigned seed) {
  std::mt19937 random(seed);
  while (!stopping) {
    RecordingListener listener;
    ConversationService service(store, backend, &listener, "visitor");
    for (int i = 0; i < 5; ++i)
      act(service, listener.seen(), random);
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 60));
  }
}

void searcher(storage::Store& store) {
  while (!stopping) {
    store.search("words", 20, [](storage::Store::Hits) {});
    const Status status = store.read([](storage::Reader& reader) { return reader.journal(10).status(); });
    if (!status) std::fprintf(stderr, "a read failed: %s\n", status.error().describe().c_str());
    if (!status || !store.trouble().empty()) ++failedReads;
    std::this_thread::sleep_for(3ms);
  }
}

int check(const std::string& path) {
  auto store = storage::Store::open(path);
  if (!store || !(*store)->trouble().empty()) return 1;
  int messages = 0;
  int rows = 0;
  const Status status = (*store)->read([&](storage::Reader& reader) -> Status {
    const auto list = reader.conversations();
    if (!list) return list.status();
    for (const storage::ConversationRecord& record : *list) {
      const auto messagesOf = reader.path(record.id);
      if (!messagesOf) return messagesOf.status();
      messages += static_cast<int>(messagesOf->size());
      for (const storage::MessageRecord& m : *messagesOf) {
        if (m.state == storage::MessageState::kStreaming)
          return Error{ErrorCode::kInternal, "an answer streams on"};
      }
    }
    const auto journal = reader.journal(1'000'000);
    rows = journal ? static_cast<int>(journal->size()) : 0;
    return journal.status();
  });
  std::printf("%d messages shown, %d journal rows: %s\n", messages, rows,
              status ? "ok" : status.error().describe().c_str());
  return status && rows > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 10;
  const auto folder = std::filesystem::temp_directory_path() / ("tandem-stress-" + std::to_string(getpid()));
  const std::string path = (folder / "tandem.db").string();
  {
    storage::StoreOptions options;
    options.queueLimit = 16;
    auto store = storage::Store::open(path, options);
    if (!store) return 1;
    FakeBackend backend;
    FakeAnswer answer;
    answer.endless = true;
    answer.tokensPerSecond = 1000;
    backend.setAnswer(answer);
    AnswerSettings settings;
    settings.maxTokens = 60;
    RecordingListener listener;
    ConversationService service(**store, backend, &listener, "stress");
    service.setDefaults(settings, "");

    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 3; ++i)
      threads.emplace_back([&, i] { person(service, listener, i); });
    threads.emplace_back([&] { searcher(**store); });
    threads.emplace_back([&] { visitor(**store, backend, 99); });
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    stopping = true;
    for (std::thread& thread : threads)
      thread.join();
    if (listener.overlapped() || failedReads > 0) {
      std::fprintf(stderr, "%d reads failed; the listener was %scalled twice at once\n", failedReads.load(),
                   listener.overlapped() ? "" : "not ");
      return 1;
    }
  }
  const int result = check(path);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return result;
}
