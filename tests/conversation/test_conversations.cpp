// What is done with whole conversations: removed, renamed, set up, searched, counted, opened.
#include <atomic>
#include <future>

#include "app/conversation/json.h"
#include "tests/conversation/conversation_fixture.h"
#include "tests/storage/store_helpers.h"

using namespace tandem;
using namespace tandem::testing;
using namespace std::chrono_literals;

class TestConversations : public QObject, private ConversationFixture {
  Q_OBJECT

 private slots:
  void init() { start(); }
  void cleanup() { finish(); }

  void removeWhileStreamingAndUndo();
  void purgeWhileStreaming();
  void renamePinAndOrder();
  void settingsOfAConversation();
  void searchOverAll();
  void contextIsCounted();
  void onlyTheNewestCountIsAnswered();
  void openWhileStreamingShowsAllText();
};

void TestConversations::removeWhileStreamingAndUndo() {
  setAnswer("word ", 100, true);
  service_->send(0, "go");
  const MessageId answer = streaming(20);
  const ConversationId id = seen().newest;
  service_->remove(id);
  QVERIFY(listener_->waitFor([&](const Seen& s) { return s.finished.contains(answer) && s.list.empty(); }));
  QCOMPARE(seen().finished.at(answer).finish, FinishReason::kCancelled);
  service_->undoRemove(id);
  QVERIFY(listener_->waitFor([&](const Seen& s) { return s.list.size() == 1; }));
  const auto path = stored(id);
  QCOMPARE(path[1].state, MessageState::kStopped);
  QCOMPARE(path[1].content, seen().text.at(answer));
  // Hidden again, it is swept at the next start.
  service_->remove(id);
  QVERIFY(listener_->waitFor([](const Seen& s) { return s.list.empty(); }));
  service_.reset();
  store_.reset();
  openStore();
  service_->undoRemove(id);
  QCOMPARE(failure()->error.code, ErrorCode::kNotFound);
  QCOMPARE(journal().size(), std::size_t(1));
}

void TestConversations::purgeWhileStreaming() {
  setAnswer("secret ", 100, true);
  service_->send(0, "go");
  QVERIFY(streaming(20) != 0);
  const ConversationId id = seen().newest;
  service_->remove(id);
  service_->purge(id);
  QVERIFY(listener_->waitFor([](const Seen& s) { return !s.finishes.empty() && s.list.empty(); }));
  QTRY_COMPARE(askFile(path_, "SELECT count(*) FROM messages"), std::string("0"));
  QCOMPARE(journal().at(0).status, std::string("cancelled"));
  service_->send(id, "still there?");
  QCOMPARE(failure()->error.code, ErrorCode::kNotFound);
}

void TestConversations::renamePinAndOrder() {
  ask(0, "first");
  const ConversationId a = seen().newest;
  ask(0, "second");
  const ConversationId b = seen().newest;
  QVERIFY(listener_->waitFor([&](const Seen& s) { return s.list.size() == 2 && s.list[0].id == b; }));
  service_->setPinned(a, true);
  QVERIFY(listener_->waitFor([&](const Seen& s) { return s.list[0].id == a && s.list[0].pinned; }));
  service_->rename(b, "By hand");
  QVERIFY(listener_->waitFor([&](const Seen& s) { return s.list[1].title == "By hand"; }));
  QVERIFY(seen().list[1].titleByPerson);
  service_->rename(b, "  ");
  ask(b, "goes on");
  QCOMPARE(seen().views.at(b).record.title, std::string("By hand"));
  QCOMPARE(stored(a).size(), std::size_t(2));
}

void TestConversations::settingsOfAConversation() {
  AnswerSettings settings;
  settings.sampling.temperature = 0.5f;
  settings.seedGiven = true;
  settings.sampling.seed = 7;
  settings.maxTokens = 4;
  settings.speculation = SpeculationOptions::off();
  service_->setSettings(0, settings);  // of the next new one
  setAnswer("a long answer of many words");
  const auto answer = ask(0, "question");
  QCOMPARE(answer.state, MessageState::kLength);
  const auto request = backend_->requests()[0];
  QVERIFY(request.maxTokens == 4 && request.sampling.seed == 7 && request.sampling.temperature == 0.5f);
  QVERIFY(!request.speculation.enabled());
  const auto read = settingsFromJson(seen().views.at(seen().newest).record.settingsJson, AnswerSettings());
  QVERIFY(read.seedGiven && read.maxTokens == 4);
  ask(0, "another");  // the defaults again
  QCOMPARE(backend_->requests()[1].maxTokens, 0);
}

void TestConversations::searchOverAll() {
  setAnswer("The kangaroo jumps.");
  ask(0, "Which animal?");
  ask(0, "Another 動物園?");
  const auto find = [&](const std::string& query) {
    auto promise = std::make_shared<std::promise<std::vector<storage::SearchHit>>>();
    service_->search(
        query, [promise](std::vector<storage::SearchHit> hits) { promise->set_value(std::move(hits)); });
    return promise->get_future().get();
  };
  QCOMPARE(find("kangaroo").size(), std::size_t(2));
  QCOMPARE(find("animal").size(), std::size_t(2));  // the title, and the message
  QCOMPARE(find("動物").size(), std::size_t(2));
  QCOMPARE(find("nowhere").size(), std::size_t(0));
  QVERIFY(find("jumps")[0].snippet.find("kangaroo jumps") != std::string::npos);
}

void TestConversations::contextIsCounted() {
  const auto count = [&](ConversationId id, const std::string& draft) {
    auto promise = std::make_shared<std::promise<Result<int>>>();
    service_->countContext(id, draft,
                           [promise](Result<int> tokens) { promise->set_value(std::move(tokens)); });
    return promise->get_future().get();
  };
  QCOMPARE(*count(0, "12345678"), 6);
  setAnswer("1234");
  ask(0, "12345678");
  QCOMPARE(*count(seen().newest, ""), 6 + 5);
  QCOMPARE(*count(seen().newest, "1234"), 6 + 5 + 5);
  service_->setDefaults(AnswerSettings(), "1234");
  QCOMPARE(*count(0, ""), 5);
  QVERIFY(!count(4711, "x").ok());
  backend_->setModel(std::nullopt);
  QVERIFY(!count(0, "x").ok());
}

void TestConversations::onlyTheNewestCountIsAnswered() {
  ask(0, "question");
  std::promise<void> gate;
  auto opened = gate.get_future().share();
  store_->query([opened](storage::Reader&) { return opened.wait(), Status(); });
  std::atomic<int> answered = 0;
  std::atomic<int> last = 0;
  for (int i = 1; i <= 10; ++i) {
    service_->countContext(seen().newest, std::string(static_cast<std::size_t>(4 * i), 'x'),
                           [&](Result<int> tokens) {
                             ++answered;
                             last = *tokens;
                           });
  }
  gate.set_value();
  QTRY_COMPARE(answered.load(), 1);
  QTest::qWait(50);
  QCOMPARE(answered.load(), 1);
  QVERIFY(last > 20);
}

void TestConversations::openWhileStreamingShowsAllText() {
  setAnswer("word ", 1000, true);
  service_->send(0, "go");
  const MessageId answer = streaming(500);
  const ConversationId id = seen().newest;
  for (int i = 0; i < 20; ++i) {
    service_->open(id);
    QTest::qWait(10);
    const Seen s = seen();
    // What the view held plus what came after it is what was streamed; so no view was behind the pieces.
    QVERIFY(s.text.at(answer).size() >= s.views.at(id).path[1].content.size());
    QVERIFY(s.views.at(id).path[1].content.size() + 200 > 500);
  }
  service_->stop(id);
  const auto ended = nextEnd(0);
  QVERIFY(ended.content == seen().text.at(answer));
}

QTEST_GUILESS_MAIN(TestConversations)
#include "test_conversations.moc"
