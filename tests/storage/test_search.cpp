// The full-text index: what is found, what is gone, and searches beside other reads.
#include <atomic>
#include <future>
#include <set>
#include <thread>

#include "tests/storage/store_fixture.h"

using namespace tandem;
using namespace tandem::testing;

class TestSearch : public QObject, private StoreFixture {
  Q_OBJECT

 private slots:
  void init() { start(); }
  void cleanup() { finish(); }

  void searchFinds_data();
  void searchFinds();
  void searchLeavesOutWhatIsGone();
  void indexFollowsTitlesAndEndsOfAnswers();
  void purgedTextLeavesTheFile();
  void newerSearchReplacesOlder();
  void searchesDisturbNoReads();
};

void TestSearch::searchFinds_data() {
  QTest::addColumn<QString>("query");
  QTest::addColumn<int>("hits");
  QTest::newRow("word") << "kangaroo" << 1;
  QTest::newRow("case") << "KANGAROO" << 1;
  QTest::newRow("sharp s and case") << "GRÖẞTE" << 1;
  QTest::newRow("umlaut") << "gröss" << 1;
  QTest::newRow("cyrillic case") << "ПРИВЕТ" << 1;
  QTest::newRow("part of a word") << "ngaro" << 1;
  QTest::newRow("two words anywhere") << "jumps kangaroo" << 1;
  QTest::newRow("not both") << "kangaroo sydney" << 0;
  QTest::newRow("han, three") << "東京都" << 1;
  QTest::newRow("han, two") << "東京" << 1;
  QTest::newRow("han, one") << "京" << 1;
  QTest::newRow("hangul, two") << "서울" << 1;
  QTest::newRow("short latin") << "qx" << 1;
  QTest::newRow("short and long") << "qx kangaroo" << 0;
  QTest::newRow("percent is no wildcard") << "%" << 1;
  QTest::newRow("underscore is no wildcard") << "_q" << 0;
  QTest::newRow("quotes") << "say \"hi\"" << 1;
  QTest::newRow("operators are words") << "NOT OR" << 0;
  QTest::newRow("star") << "kanga*" << 0;
  QTest::newRow("emoji") << "🦘" << 1;
  QTest::newRow("title") << "Zoological" << 1;
  QTest::newRow("nothing") << "  \t " << 0;
  QTest::newRow("very many words") << QString("it ").repeated(3000) + "kangaroo" << 1;
  QTest::newRow("after a NUL") << "behindnul" << 1;
}

void TestSearch::searchFinds() {
  writeTurn(store(), 0, "The Kangaroo", "It jumps. The kangaroo jumps 🦘.");
  writeTurn(store(), 0, "größer", "Das Größte: grösste, привет");
  writeTurn(store(), 0, "東京都は日本の首都です", "서울");
  writeTurn(store(), 0, "qx 100%", "they say \"hi\"");
  writeTurn(store(), 0, std::string("before\0behindnul", 16), "ok");
  QVERIFY(store().write([](Writer& writer) {
    auto record = writer.conversation(1);
    record->title = "Zoological talk";
    return writer.updateConversation(*record);
  }));

  QFETCH(QString, query);
  QFETCH(int, hits);
  const auto found = hitsOf(store(), query.toStdString());
  std::set<ConversationId> conversations;
  for (const SearchHit& hit : found)
    conversations.insert(hit.conversation);
  QCOMPARE(static_cast<int>(conversations.size()), hits);
  for (const SearchHit& hit : found) {
    QVERIFY(!hit.snippet.empty());
    QVERIFY(hit.snippet.size() < 400);
    QVERIFY(QString::fromStdString(hit.snippet).toStdString() == hit.snippet);  // whole characters
  }
}

void TestSearch::searchLeavesOutWhatIsGone() {
  const Turn kept = writeTurn(store(), 0, "needle one", "x");
  const Turn hidden = writeTurn(store(), 0, "needle two", "x");
  QCOMPARE(hitsOf(store(), "needle").size(), std::size_t(4));  // titles and messages
  QVERIFY(store().write([&](Writer& writer) { return writer.hideConversation(hidden.conversation, 1); }));
  QCOMPARE(hitsOf(store(), "needle").size(), std::size_t(2));
  QVERIFY(store().write([&](Writer& writer) { return writer.showConversation(hidden.conversation); }));
  QCOMPARE(hitsOf(store(), "needle").size(), std::size_t(4));
  QVERIFY(store().write([&](Writer& writer) { return writer.purgeConversation(hidden.conversation); }));
  const auto hits = hitsOf(store(), "needle");
  QCOMPARE(hits.size(), std::size_t(2));
  QCOMPARE(hits[0].conversation, kept.conversation);
  QCOMPARE(hits[0].message, MessageId(0));  // the title first
  QCOMPARE(hits[1].message, kept.question);
}

void TestSearch::indexFollowsTitlesAndEndsOfAnswers() {
  const Turn turn = writeTurn(store(), 0, "question", "", MessageState::kStreaming);
  QVERIFY(store().write([&](Writer& writer) {
    auto record = writer.conversation(turn.conversation);
    record->title = "renamed afterwards";
    return writer.updateConversation(*record);
  }));
  QCOMPARE(hitsOf(store(), "renamed").size(), std::size_t(1));
  QCOMPARE(hitsOf(store(), "question").size(), std::size_t(1));
  MessageRecord end = pathOf(store(), turn.conversation).at(1);
  end.content = "finally here";
  end.state = MessageState::kComplete;
  QVERIFY(store().write([&](Writer& writer) { return writer.finishAnswer(end); }));
  QCOMPARE(hitsOf(store(), "finally").size(), std::size_t(1));
}

void TestSearch::purgedTextLeavesTheFile() {
  const std::string secret = "Xylophonquartett";
  const Turn turn = writeTurn(store(), 0, secret + " question", "the " + secret + " answer " + secret);
  for (int i = 0; i < 50; ++i)
    writeTurn(store(), 0, "other talk " + std::to_string(i), "text");
  JournalRow row;
  row.conversation = turn.conversation;
  QVERIFY(store().write([&](Writer& writer) { return writer.addJournal(row).status(); }));
  QVERIFY(store().write([&](Writer& writer) { return writer.purgeConversation(turn.conversation); }));
  QVERIFY(hitsOf(store(), secret).empty());
  // The index is rewritten, and the log emptied, when the writer has nothing else to do.
  const auto clean = [&] {
    return bytesOf(path_).find(secret) == std::string::npos &&
           bytesOf(path_ + "-wal").find(secret) == std::string::npos;
  };
  QTRY_VERIFY(clean());
  store_.reset();
  QVERIFY(clean());
  QCOMPARE(askFile(path_, "SELECT count(*) FROM journal"), std::string("1"));
  QCOMPARE(askFile(path_, "SELECT count(*) FROM conversations"), std::string("50"));
}

void TestSearch::newerSearchReplacesOlder() {
  writeTurn(store(), 0, "needle", "x");
  std::promise<void> gate;
  auto opened = gate.get_future().share();
  store().query([opened](Reader&) { return opened.wait(), Status(); });
  std::vector<std::future<Store::Hits>> results;
  for (int i = 0; i < 3; ++i) {
    auto promise = std::make_shared<std::promise<Store::Hits>>();
    results.push_back(promise->get_future());
    store().search("needle", 10, [promise](Store::Hits hits) { promise->set_value(std::move(hits)); });
  }
  gate.set_value();
  QCOMPARE(results[0].get().error().code, ErrorCode::kCancelled);
  QCOMPARE(results[1].get().error().code, ErrorCode::kCancelled);
  QCOMPARE(results[2].get()->size(), std::size_t(2));
}

// Searches are broken off by newer ones all the time; reads between them are not.
void TestSearch::searchesDisturbNoReads() {
  writeTurn(store(), 0, "question", "needle");
  std::atomic<bool> stop = false;
  std::atomic<int> searches = 0;
  std::vector<std::thread> searchers;
  for (int i = 0; i < 3; ++i) {
    searchers.emplace_back([&] {
      while (!stop)
        store().search("needle", 100, [&](const Store::Hits&) { ++searches; });
    });
  }
  int failed = 0;
  for (int i = 0; i < 3000; ++i) {
    failed += store().read([](Reader& reader) { return reader.conversation(1).status(); }).ok() ? 0 : 1;
  }
  stop = true;
  for (std::thread& searcher : searchers)
    searcher.join();
  store_.reset();  // the last searches end
  QCOMPARE(failed, 0);
  QVERIFY(searches > 100);
}

QTEST_GUILESS_MAIN(TestSearch)
#include "test_search.moc"
