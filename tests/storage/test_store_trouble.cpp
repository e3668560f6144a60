// The store on a disk that fails: full, read-only, locked, removed, or without power.
#include <atomic>
#include <random>
#include <thread>

#include "tests/storage/trouble_fixture.h"

using namespace tandem;
using namespace tandem::testing;
using namespace std::chrono_literals;

class TestStoreTrouble : public QObject, private TroubleFixture {
  Q_OBJECT

 private slots:
  void init() { start(); }
  void cleanup() { finish(); }

  void fullDiskAtEveryWrite();
  void fullDiskAtStart();
  void fullDiskWithUncheckpointedTurnsAtStart();
  void spaceAgainAfterEditsAndDeletes();
  void readOnlyFromStart();
  void readOnlyLater();
  void lockedForTenSeconds();
  void lockedBeyondPatience();
  void lockedWhileOpening();
  void lockedWhileClosing();
  void fileRemovedWhileOpen();
  void fileReplacedWhileOpen();
  void folderRemovedWhileOpen();
  void unreadableDisk();
  void powerCuts();
};

// Whichever write is the first that finds no room: nothing acknowledged is lost, the store goes on in memory
// and says so, and all is on disk once there is room again.
void TestStoreTrouble::fullDiskAtEveryWrite() {
  int inMemory = 0;
  for (int writes = 0; writes < 240; writes += 6) {
    vfs_.reset();
    std::filesystem::remove_all(std::filesystem::path(path_).parent_path());
    auto store = open(faulty());
    QVERIFY(store);
    QVERIFY(writeTurn(*store, 0, "before", "answer").answer != 0);
    std::atomic<int> told = 0;
    store->onTrouble([&](const std::string& sentence) { told += sentence.empty() ? 100 : 1; });
    vfs_.fullAfter(writes);
    std::set<std::string> acknowledged = {"before"};
    for (int i = 0; i < 6; ++i) {
      const std::string text = "turn " + std::to_string(i) + std::string(3000, 'x');
      QVERIFY(writeTurn(*store, 0, text, "answer").answer != 0);
      acknowledged.insert(text);
    }
    QCOMPARE(questionsOf(*store), acknowledged);
    if (store->inMemory()) {
      ++inMemory;
      QVERIFY(store->trouble().find("disk is full") != std::string::npos);
      QCOMPARE(told.load(), 1);
      QCOMPARE(hitsOf(*store, "turn 5").size(), std::size_t(2));
      vfs_.setFull(false);
      QTRY_VERIFY_WITH_TIMEOUT(!store->inMemory(), 3000);
      QTRY_COMPARE(told.load(), 101);
      QCOMPARE(store->trouble(), std::string());
    }
    QCOMPARE(questionsOf(*store), acknowledged);
    store.reset();
    QCOMPARE(askFile(path_, "PRAGMA integrity_check"), std::string("ok"));
    auto again = open({});
    QVERIFY(again);
    QCOMPARE(questionsOf(*again), acknowledged);
  }
  qInfo("%d of 40 runs went through memory", inMemory);
  QVERIFY(inMemory > 20);
}

void TestStoreTrouble::fullDiskAtStart() {
  makeFile(3);
  vfs_.setFull(true);
  auto store = open(faulty());
  QVERIFY(store);
  QVERIFY(store->inMemory());
  QVERIFY(!store->trouble().empty());
  QCOMPARE(questionsOf(*store).size(), std::size_t(3));
  QVERIFY(writeTurn(*store, 0, "in memory", "answer").answer != 0);
  QCOMPARE(questionsOf(*store).size(), std::size_t(4));
  store.reset();  // still full: what was in memory is lost, as the sentence said; what was on disk is not
  vfs_.reset();
  store = open({});
  QCOMPARE(questionsOf(*store).size(), std::size_t(3));
}

void TestStoreTrouble::fullDiskWithUncheckpointedTurnsAtStart() {
  // A process that died left turns in the log only.
  makeFile(1);
  const std::string kept = dir_->filePath("kept").toStdString();
  {
    auto store = open({});
    QVERIFY(writeTurn(*store, 0, "in the log", "answer").answer != 0);
    std::filesystem::create_directories(kept);
    for (const char* suffix : {"", "-wal"}) {
      std::filesystem::copy_file(path_ + suffix, kept + "/tandem.db" + suffix);
    }
  }
  path_ = kept + "/tandem.db";
  vfs_.setFull(true);
  auto store = open(faulty());
  QVERIFY(store && store->inMemory());
  QVERIFY(questionsOf(*store).contains("in the log"));
  QVERIFY(writeTurn(*store, 0, "later", "answer").answer != 0);
  vfs_.setFull(false);
  QTRY_VERIFY(!store->inMemory());
  store = open({});
  QCOMPARE(questionsOf(*store), (std::set<std::string>{"question 0", "in the log", "later"}));
}

void TestStoreTrouble::spaceAgainAfterEditsAndDeletes() {
  auto store = open(faulty());
  const Turn kept = writeTurn(*store, 0, "kept", "answer");
  const Turn purged = writeTurn(*store, 0, "purged", "answer");
  const Turn elsewhere = writeTurn(*store, 0, "elsewhere", "answer");
  vfs_.setFull(true);
  QVERIFY(writeTurn(*store, kept.conversation, "more " + std::string(30'000, 'x'), "answer").answer != 0);
  QVERIFY(store->inMemory());
  QVERIFY(store->write([&](Writer& writer) { return writer.purgeConversation(purged.conversation); }));
  QVERIFY(store->write([&](Writer& writer) {
    auto record = writer.conversation(kept.conversation);
    record->title = "renamed in memory";
    return writer.updateConversation(*record);
  }));
  // Another process writes to the file meanwhile, and deletes from it: neither is undone.
  {
    auto other = open({});
    QVERIFY(writeTurn(*other, 0, "by the other", "answer").answer != 0);
    QVERIFY(other->write([&](Writer& writer) { return writer.purgeConversation(elsewhere.conversation); }));
  }
  vfs_.setFull(false);
  QTRY_VERIFY(!store->inMemory());
  const auto questions = questionsOf(*store);
  QCOMPARE(questions.size(), std::size_t(3));
  QVERIFY(questions.contains("kept") && questions.contains("by the other"));
  QCOMPARE(hitsOf(*store, "renamed in memory").size(), std::size_t(1));
  QVERIFY(hitsOf(*store, "purged").empty());
  store.reset();
  QCOMPARE(askFile(path_, "PRAGMA integrity_check"), std::string("ok"));
  QCOMPARE(askFile(path_, "PRAGMA foreign_key_check"), std::string());
}

void TestStoreTrouble::readOnlyFromStart() {
  makeFile(2);
  vfs_.setReadOnly(true);
  auto store = open(faulty());
  QVERIFY(store && store->inMemory());
  QVERIFY(store->trouble().find("kept in memory") != std::string::npos);
  QCOMPARE(questionsOf(*store).size(), std::size_t(2));
  QVERIFY(writeTurn(*store, 0, "in memory", "answer").answer != 0);
  vfs_.setReadOnly(false);
  QTRY_VERIFY(!store->inMemory());
  QCOMPARE(questionsOf(*store).size(), std::size_t(3));
}

void TestStoreTrouble::readOnlyLater() {
  auto store = open(faulty());
  QVERIFY(writeTurn(*store, 0, "before", "answer").answer != 0);
  vfs_.setReadOnly(true);
  QVERIFY(writeTurn(*store, 0, "after", "answer").answer != 0);
  QVERIFY(store->inMemory());
  QVERIFY(store->trouble().find("read-only") != std::string::npos);
  QCOMPARE(questionsOf(*store).size(), std::size_t(2));
}

void TestStoreTrouble::lockedForTenSeconds() {
  auto store = open({});
  QVERIFY(writeTurn(*store, 0, "before", "answer").answer != 0);
  auto lock = std::make_unique<WriteLock>(path_);
  QVERIFY(lock->held());

  const auto start = std::chrono::steady_clock::now();
  std::atomic<int> done = 0;
  for (int i = 0; i < 50; ++i) {
    store->post([i](Writer& writer) { return addTurn(writer, 0, "q" + std::to_string(i), "a").status(); },
                [&](const Status& status) { done += status.ok() ? 1 : 1000; });
  }
  QVERIFY(std::chrono::steady_clock::now() - start < 2s);  // nobody waits but the writer
  while (std::chrono::steady_clock::now() - start < 10s) {
    const auto asked = std::chrono::steady_clock::now();
    QCOMPARE(questionsOf(*store).size(), std::size_t(1));  // reading goes on
    QVERIFY(std::chrono::steady_clock::now() - asked < 4s);
    QTest::qWait(500);
  }
  QCOMPARE(done.load(), 0);
  QVERIFY(store->trouble().find("locked") != std::string::npos);
  lock.reset();
  QTRY_COMPARE(done.load(), 50);
  QCOMPARE(store->trouble(), std::string());
  QCOMPARE(questionsOf(*store).size(), std::size_t(51));
}

void TestStoreTrouble::lockedBeyondPatience() {
  StoreOptions options;
  options.lockPatience = 200ms;
  auto store = open(options);
  QVERIFY(writeTurn(*store, 0, "before", "answer").answer != 0);
  auto lock = std::make_unique<WriteLock>(path_);
  const Status status = store->write([](Writer& writer) { return addTurn(writer, 0, "q", "a").status(); });
  QCOMPARE(status.error().code, ErrorCode::kBusy);
  QVERIFY(!store->inMemory());
  lock.reset();
  QVERIFY(writeTurn(*store, 0, "after", "answer").answer != 0);
  QCOMPARE(questionsOf(*store), (std::set<std::string>{"before", "after"}));
}

void TestStoreTrouble::lockedWhileOpening() {
  makeFile(1);
  auto lock = std::make_unique<WriteLock>(path_, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  QVERIFY(lock->held());
  const auto start = std::chrono::steady_clock::now();
  auto store = open(faulty());
  QVERIFY(std::chrono::steady_clock::now() - start < 8s);
  QVERIFY(store && store->inMemory());
  QVERIFY(store->trouble().find("locked") != std::string::npos);
  QVERIFY(writeTurn(*store, 0, "meanwhile", "answer").answer != 0);
  lock.reset();
  QTRY_VERIFY(!store->inMemory());
  QCOMPARE(questionsOf(*store), (std::set<std::string>{"question 0", "meanwhile"}));
}

void TestStoreTrouble::lockedWhileClosing() {
  auto store = open({});
  QVERIFY(writeTurn(*store, 0, "before", "answer").answer != 0);
  const WriteLock lock(path_);
  store->post([](Writer& writer) { return addTurn(writer, 0, "q", "a").status(); });
  const auto start = std::chrono::steady_clock::now();
  store.reset();
  QVERIFY(std::chrono::steady_clock::now() - start < 3s);  // half a second, on an idle machine
}

void TestStoreTrouble::fileRemovedWhileOpen() {
  StoreOptions options;
  options.memoryRetry = 100ms;
  auto store = open(options);
  QVERIFY(writeTurn(*store, 0, "before", "answer").answer != 0);
  for (const char* suffix : {"", "-wal", "-shm"})
    std::filesystem::remove(path_ + suffix);
  QVERIFY(writeTurn(*store, 0, "after", "answer").answer != 0);
  QTRY_VERIFY(!store->inMemory());
  QCOMPARE(questionsOf(*store), (std::set<std::string>{"before", "after"}));
  store.reset();
  store = open({});
  QCOMPARE(questionsOf(*store), (std::set<std::string>{"before", "after"}));
  QCOMPARE(askFile(path_, "PRAGMA integrity_check"), std::string("ok"));
}

void TestStoreTrouble::fileReplacedWhileOpen() {
  const std::string other = dir_->filePath("other.db").toStdString();
  {
    auto made = Store::open(other);
    for (int i = 0; i < 3; ++i)
      writeTurn(**made, 0, "restored " + std::to_string(i), "answer");
  }
  auto store = open({});
  QVERIFY(writeTurn(*store, 0, "before", "answer").answer != 0);
  std::filesystem::rename(other, path_);
  std::filesystem::remove(path_ + "-wal");
  std::filesystem::remove(path_ + "-shm");
  QVERIFY(writeTurn(*store, 0, "after", "answer").answer != 0);
  QTRY_VERIFY(!store->inMemory());
  const auto questions = questionsOf(*store);
  QVERIFY(questions.contains("before") && questions.contains("after"));
  QVERIFY(questions.contains("restored 2"));
  store.reset();
  QCOMPARE(askFile(path_, "PRAGMA integrity_check"), std::string("ok"));
}

void TestStoreTrouble::folderRemovedWhileOpen() {
  StoreOptions options;
  options.memoryRetry = 100ms;
  auto store = open(options);
  QVERIFY(writeTurn(*store, 0, "before", "answer").answer != 0);
  std::filesystem::remove_all(std::filesystem::path(path_).parent_path());
  QVERIFY(writeTurn(*store, 0, "after", "answer").answer != 0);
  QVERIFY(store->inMemory());
  QVERIFY(store->trouble().find("moved or deleted") != std::string::npos);
  QCOMPARE(questionsOf(*store).size(), std::size_t(2));
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path());
  QTRY_VERIFY(!store->inMemory());
  QCOMPARE(questionsOf(*store).size(), std::size_t(2));
}

void TestStoreTrouble::unreadableDisk() {
  auto store = open(faulty());
  QVERIFY(writeTurn(*store, 0, "before", "answer").answer != 0);
  store.reset();
  vfs_.setUnreadable(true);
  store = open(faulty());
  QVERIFY(store && store->inMemory());
  QVERIFY(store->trouble().find("cannot be shown") != std::string::npos);
  QVERIFY(writeTurn(*store, 0, "meanwhile", "answer").answer != 0);
  vfs_.setUnreadable(false);
  QTRY_VERIFY(!store->inMemory());
  QCOMPARE(questionsOf(*store), (std::set<std::string>{"before", "meanwhile"}));
}

// The power goes at a hundred moments: the disk keeps what was synced and any part of the rest. Every turn
// whose commit was acknowledged before is there, and the file is sound.
void TestStoreTrouble::powerCuts() {
  std::mt19937 random(7);
  vfs_.record(path_);
  auto store = open(faulty());
  std::atomic<int> acknowledged = 0;
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      const std::string text = "turn " + std::to_string(i) + std::string(random() % 3000, 'x');
      if (writeTurn(*store, 0, text, "answer").answer != 0) ++acknowledged;
      std::this_thread::sleep_for(5ms);
    }
  });
  std::mt19937 moments(11);
  int checked = 0;
  for (int cut = 0; cut < 100; ++cut) {
    QTest::qSleep(static_cast<int>(moments() % 30));
    const int before = acknowledged;
    const std::string folder = dir_->filePath(QString("cut%1").arg(cut)).toStdString();
    vfs_.powerCut(folder, moments);
    const std::string cutFile = folder + "/tandem.db";
    auto after = Store::open(cutFile);
    QVERIFY(after.ok());
    QVERIFY2((*after)->trouble().empty(), (*after)->trouble().c_str());
    // The turns are written one after the other, so none but the last may be missing.
    const int kept = std::stoi(askFile(cutFile, "SELECT count(*) FROM messages WHERE role = 0"));
    QVERIFY2(kept >= before, qPrintable(QString("cut %1").arg(cut)));
    checked += before;
    after->reset();
    QCOMPARE(askFile(cutFile, "PRAGMA integrity_check"), std::string("ok"));
    std::filesystem::remove_all(folder);
  }
  stop = true;
  writer.join();
  qInfo("%d acknowledged turns, %d looked for over 100 power cuts", acknowledged.load(), checked);
  QVERIFY(acknowledged > 20);
}

QTEST_GUILESS_MAIN(TestStoreTrouble)
#include "test_store_trouble.moc"
