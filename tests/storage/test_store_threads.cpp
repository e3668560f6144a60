// The store's queues, and several stores on one file.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "tests/storage/store_fixture.h"

using namespace tandem;
using namespace tandem::testing;

class TestStoreThreads : public QObject, private StoreFixture {
  Q_OBJECT

 private slots:
  void init() { start(); }
  void cleanup() { finish(); }

  void unfinishedOfTheDeadIsSwept();
  void failedJobLeavesNothing();
  void fullQueueSlowsTheProducer();
  void closingRunsWhatIsQueued();
  void twoProcessesWriteOneFile();
  void bigConversationsLoadFast();
};

void TestStoreThreads::unfinishedOfTheDeadIsSwept() {
  const Turn turn = writeTurn(store(), 0, "q", "", MessageState::kStreaming);
  const Turn gone = writeTurn(store(), 0, "to be deleted", "x");
  QVERIFY(store().write([&](Writer& writer) {
    return writer.appendPart(turn.answer, {"half", {1}, {0}, {4}});
  }));
  QVERIFY(store().write([&](Writer& writer) { return writer.hideConversation(gone.conversation, 1); }));

  // A second store in the same process: the first still lives, so nothing of it is touched.
  {
    auto second = Store::open(path_);
    QVERIFY(second.ok());
    QVERIFY((*second)->write([](Writer&) { return Status(); }));
    QCOMPARE(pathOf(**second, turn.conversation).at(1).state, MessageState::kStreaming);
    QVERIFY((*second)->write([&](Writer& writer) { return writer.showConversation(gone.conversation); }));
    QVERIFY((*second)->write([&](Writer& writer) { return writer.hideConversation(gone.conversation, 1); }));
  }
  reopen();
  QCOMPARE(pathOf(store(), turn.conversation).at(1).state, MessageState::kInterrupted);
  QVERIFY(store().write([](Writer&) { return Status(); }));  // behind the sweep
  store_.reset();
  QCOMPARE(askFile(path_, "SELECT state || content FROM messages WHERE id = " + std::to_string(turn.answer)),
           std::string("5half"));
  QCOMPARE(askFile(path_, "SELECT count(*) FROM answer_parts"), std::string("0"));
  QCOMPARE(askFile(path_, "SELECT count(*) FROM conversations"), std::string("1"));
  QCOMPARE(askFile(path_, "SELECT count(*) FROM search WHERE body MATCH 'half'"), std::string("1"));
}

void TestStoreThreads::failedJobLeavesNothing() {
  const Status status = store().write([](Writer& writer) -> Status {
    const auto turn = addTurn(writer, 0, "q", "a");
    if (!turn) return turn.status();
    return Error{ErrorCode::kBusy, "changed my mind"};
  });
  QCOMPARE(status.error().code, ErrorCode::kBusy);
  QVERIFY(listOf(store()).empty());
  QVERIFY(writeTurn(store(), 0, "q", "a").answer != 0);
}

void TestStoreThreads::fullQueueSlowsTheProducer() {
  StoreOptions options;
  options.queueLimit = 4;
  reopen(options);
  std::promise<void> gate;
  auto opened = gate.get_future().share();
  std::atomic<int> posted = 0, done = 0;
  std::thread producer([&] {
    for (int i = 0; i < 20; ++i) {
      store().post([opened](Writer&) { return opened.wait(), Status(); }, [&](const Status&) { ++done; });
      ++posted;
    }
  });
  QTest::qWait(100);
  QVERIFY(posted <= 6);  // four wait, one runs, one is being handed over
  gate.set_value();
  producer.join();
  QTRY_COMPARE(done.load(), 20);
}

void TestStoreThreads::closingRunsWhatIsQueued() {
  std::atomic<int> done = 0;
  for (int i = 0; i < 50; ++i) {
    store().post([i](Writer& writer) { return addTurn(writer, 0, "q" + std::to_string(i), "a").status(); },
                 [&](const Status& status) { done += status.ok() ? 1 : 0; });
  }
  store_.reset();
  QCOMPARE(done.load(), 50);
  QCOMPARE(askFile(path_, "SELECT count(*) FROM messages"), std::string("100"));
}

void TestStoreThreads::twoProcessesWriteOneFile() {
  store_.reset();
  constexpr int kTurns = 100;
  std::vector<pid_t> children;
  for (int child = 0; child < 2; ++child) {
    const pid_t pid = fork();
    if (pid == 0) {
      auto opened = Store::open(path_);
      if (!opened || !(*opened)->trouble().empty()) _exit(1);
      for (int i = 0; i < kTurns; ++i) {
        if (writeTurn(**opened, 0, "of process " + std::to_string(child), "a").answer == 0) _exit(2);
      }
      opened->reset();
      _exit(0);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 0;
    QCOMPARE(waitpid(pid, &status, 0), pid);
    QVERIFY(WIFEXITED(status));
    QCOMPARE(WEXITSTATUS(status), 0);
  }
  reopen();
  QCOMPARE(listOf(store()).size(), std::size_t(2 * kTurns));
  QCOMPARE(hitsOf(store(), "process 1").size(), std::size_t(100));  // as many as were asked for
}

void TestStoreThreads::bigConversationsLoadFast() {
  QVERIFY(store().write([](Writer& writer) {
    Result<Turn> turn = addTurn(writer, 0, "question 0", "answer");
    MessageId last = turn->answer;
    for (int i = 1; i < 1500; ++i) {
      const auto q = writer.addMessage(message(turn->conversation, last, Role::kUser, "question"));
      if (!q) return q.status();
      const auto a = writer.addMessage(message(turn->conversation, *q, Role::kAssistant, "answer"));
      if (!a) return a.status();
      last = *a;
    }
    return Status();
  }));
  const auto start = std::chrono::steady_clock::now();
  QCOMPARE(pathOf(store(), 1).size(), std::size_t(3000));
  const auto ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  qInfo("a path of 3000 messages is read in %.1f ms", ms);
  QVERIFY(ms < 5000);  // a tenth of a second on an idle machine
  // Deep trees are deleted without recursion.
  QVERIFY(store().write([](Writer& writer) { return writer.purgeConversation(1); }));
  QVERIFY(listOf(store()).empty());
}

QTEST_GUILESS_MAIN(TestStoreThreads)
#include "test_store_threads.moc"
