// The store on a damaged file: what can be read is carried over, and the file is kept.
#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <random>

#include "storage/page_scan.h"
#include "tests/storage/trouble_fixture.h"

using namespace tandem;
using namespace tandem::testing;
using namespace std::chrono_literals;

namespace {

constexpr int kPage = 4096;

void flipByte(const std::string& path, std::int64_t offset) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(offset);
  const char byte = static_cast<char>(file.get() ^ 0x55);
  file.seekp(offset);
  file.put(byte);
}

}  // namespace

class TestStoreDamage : public QObject, private TroubleFixture {
  Q_OBJECT

 private slots:
  void init() { start(); }
  void cleanup() { finish(); }

  void byteFlipInEveryPage();
  void truncatedFile();
  void notADatabase_data();
  void notADatabase();
  void damageWhileRunning();
  void damagedIndexIsRebuilt_data();
  void damagedIndexIsRebuilt();
  void pageScanFindsEveryRow();
  void pageScanTakesAnyBytes();
};

// A flipped byte in each page, at several places: the store opens, says what happened if it noticed, keeps
// the damaged file, loses only what lay on that page, and can be written.
void TestStoreDamage::byteFlipInEveryPage() {
  constexpr int kTurns = 16;
  makeFile(kTurns);
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path_));
  const std::string original = dir_->filePath("original.db").toStdString();
  std::filesystem::copy_file(path_, original);
  std::mt19937 random(20240817);
  int noticed = 0;
  int worst = kTurns;
  for (std::int64_t page = 0; page < size / kPage; ++page) {
    clearFolder();
    std::filesystem::copy_file(original, path_);
    // The page's header, where the tree hangs, and one byte anywhere.
    flipByte(path_, page * kPage + (page == 0 ? 100 : 0));
    flipByte(path_, page * kPage + 3);
    flipByte(path_, page * kPage + static_cast<std::int64_t>(random() % kPage));
    auto store = open({});
    QVERIFY2(store, qPrintable(QString("page %1").arg(page)));
    const bool said = !store->trouble().empty();
    if (said) {
      ++noticed;
      QVERIFY(store->trouble().find("damaged") != std::string::npos);
      QCOMPARE(damagedCopies().size(), std::size_t(1));
      QVERIFY(std::filesystem::file_size(damagedCopies()[0]) == static_cast<std::uintmax_t>(size));
    }
    QVERIFY(!store->inMemory());
    QVERIFY(writeTurn(*store, 0, "written after", "answer").answer != 0);
    const int left = static_cast<int>(questionsOf(*store).size()) - 1;
    if (page > 0) worst = std::min(worst, left);
    hitsOf(*store, "question 7");
    store.reset();
    QCOMPARE(askFile(path_, "PRAGMA integrity_check"), std::string("ok"));
    store = open({});
    QVERIFY(questionsOf(*store).contains("written after"));
  }
  qInfo("%d of %d pages noticed; with one damaged page at least %d of %d turns could be read", noticed,
        static_cast<int>(size / kPage), worst, kTurns);
  QVERIFY(noticed > size / kPage / 2);
  QVERIFY(worst > kTurns / 3);
}

void TestStoreDamage::truncatedFile() {
  makeFile(30);
  const auto size = std::filesystem::file_size(path_);
  const std::string original = dir_->filePath("original.db").toStdString();
  std::filesystem::copy_file(path_, original);
  for (int part = 1; part < 20; ++part) {
    clearFolder();
    std::filesystem::copy_file(original, path_);
    std::filesystem::resize_file(path_, size * static_cast<unsigned>(part) / 20);
    auto store = open({});
    QVERIFY(store);
    QVERIFY(store->trouble().find("damaged") != std::string::npos);
    QCOMPARE(damagedCopies().size(), std::size_t(1));
    QVERIFY(writeTurn(*store, 0, "written after", "answer").answer != 0);
    store.reset();
    QCOMPARE(askFile(path_, "PRAGMA integrity_check"), std::string("ok"));
  }
}

void TestStoreDamage::notADatabase_data() {
  QTest::addColumn<QByteArray>("bytes");
  QTest::newRow("NUL bytes of a power cut") << QByteArray(8192, '\0');
  QTest::newRow("text")
      << QByteArray("this is no database, but long enough to be taken for one\n").repeated(40);
  QTest::newRow("only the magic") << QByteArray("SQLite format 3\0", 16);
}

void TestStoreDamage::notADatabase() {
  QFETCH(QByteArray, bytes);
  std::ofstream(path_, std::ios::binary).write(bytes.data(), bytes.size());
  auto store = open({});
  QVERIFY(store);
  QVERIFY(store->trouble().find("damaged") != std::string::npos);
  QCOMPARE(damagedCopies().size(), std::size_t(1));
  QVERIFY(std::filesystem::file_size(damagedCopies()[0]) == static_cast<std::uintmax_t>(bytes.size()));
  QVERIFY(writeTurn(*store, 0, "q", "a").answer != 0);
  QVERIFY(!store->inMemory());
}

void TestStoreDamage::damageWhileRunning() {
  makeFile(30);
  auto store = open({});
  QVERIFY(store && store->trouble().empty());
  // The pages of the messages are overwritten under the open store.
  const std::int64_t root =
      std::stoll(askFile(path_, "SELECT rootpage FROM sqlite_schema WHERE name='messages'"));
  const int file = ::open(path_.c_str(), O_WRONLY);
  const std::string rubbish(kPage, '\x7f');
  QCOMPARE(pwrite(file, rubbish.data(), kPage, (root - 1) * kPage), ssize_t(kPage));
  ::close(file);
  QVERIFY(writeTurn(*store, 0, "after", "answer").answer != 0);
  QVERIFY(questionsOf(*store).contains("after"));
  QVERIFY(store->trouble().find("damaged") != std::string::npos);
  QCOMPARE(damagedCopies().size(), std::size_t(1));
  store.reset();
  QCOMPARE(askFile(path_, "PRAGMA integrity_check"), std::string("ok"));
}

void TestStoreDamage::damagedIndexIsRebuilt_data() {
  QTest::addColumn<QByteArray>("sql");
  QTest::newRow("all blocks") << QByteArray("UPDATE search_data SET block = x'00' WHERE id > 1");
  QTest::newRow("leaves") << QByteArray(
      "UPDATE search_data SET block = zeroblob(length(block)) WHERE id > 10");
  QTest::newRow("structure") << QByteArray("UPDATE search_data SET block = x'ffffffff' WHERE id = 10");
  QTest::newRow("gone") << QByteArray("DELETE FROM search_data");
}

void TestStoreDamage::damagedIndexIsRebuilt() {
  makeFile(5);
  QFETCH(QByteArray, sql);
  askFile(path_, sql.toStdString());
  auto store = open({});
  QVERIFY(writeTurn(*store, 0, "needle", "answer").answer != 0);
  QCOMPARE(hitsOf(*store, "question 3").size(), std::size_t(2));
  QCOMPARE(hitsOf(*store, "needle").size(), std::size_t(2));
  QCOMPARE(questionsOf(*store).size(), std::size_t(6));
}

void TestStoreDamage::pageScanFindsEveryRow() {
  makeFile(10);
  std::map<std::int64_t, std::string> contents;
  scanRows(bytesOf(path_), [&](std::int64_t id, const std::vector<ScannedValue>& values) {
    if (values.size() == 16) contents[id] = std::get<ScannedBlob>(values[5]).bytes;
  });
  auto store = open({});
  std::size_t messages = 0;
  for (const ConversationRecord& record : listOf(*store)) {
    for (const MessageRecord& m : pathOf(*store, record.id)) {
      ++messages;
      QCOMPARE(contents[m.id], m.content);
    }
  }
  QCOMPARE(messages, std::size_t(20));
  QCOMPARE(contents.size(), messages);
}

void TestStoreDamage::pageScanTakesAnyBytes() {
  makeFile(6);
  const std::string file = bytesOf(path_);
  std::mt19937 random(5);
  std::size_t rows = 0;
  const auto count = [&](std::int64_t, const std::vector<ScannedValue>& values) {
    rows += values.size() > 3 ? 1 : 0;
  };
  for (int i = 0; i < 400; ++i) {
    std::string bytes = file;
    for (int flips = 1 << (i % 12); flips > 0; --flips)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (i % 4 == 0) bytes.resize(random() % bytes.size());
    scanRows(bytes, count);
  }
  QVERIFY(rows > 1000);
  std::string rubbish(200'000, '\0');
  for (int i = 0; i < 50; ++i) {
    for (char& byte : rubbish)
      byte = static_cast<char>(random());
    for (std::size_t page = 0; page < rubbish.size(); page += kPage)
      rubbish[page] = '\x0d';
    scanRows(rubbish, count);
  }
  scanRows("", count);
  scanRows(std::string(100, '\x0d'), count);
}

QTEST_GUILESS_MAIN(TestStoreDamage)
#include "test_store_damage.moc"
