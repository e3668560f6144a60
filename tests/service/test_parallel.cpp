// Several requests of a service at once: what a consumer does, or does not, touches nobody else.
#include <condition_variable>
#include <mutex>

#include "app/service/event_lanes.h"
#include "tests/service/service_fixture.h"

namespace tandem::test {
namespace {

using namespace service;

// Holds whoever comes until it is opened.
class Gate {
 public:
  void wait() {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [this] { return open_; });
  }
  void open() {
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
    }
    opened_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};

class TestParallel : public QObject, private ServiceFixture {
  Q_OBJECT
 private slots:
  void answersAreThoseAlone();
  void aSlowConsumerHoldsUpNobody();
  void lanesAreLentAndUsedAgain();
  void aLoadWaitsForWhatRuns();
  void refusesNumbersOutOfRange();
};

void TestParallel::answersAreThoseAlone() {
  const std::string path = write("answers.gguf");
  EngineService one, four({.parallel = 4});
  load(one, path);
  load(four, path);
  std::vector<std::vector<TokenId>> expected;
  for (int i = 0; i < 6; ++i)
    expected.push_back(idsOf(answered(one, chatRequest(std::string(20 * i + 1, 'a' + i), 30))));
  std::vector<Answer> answers(6);
  for (int i = 0; i < 6; ++i)
    four.submit(chatRequest(std::string(20 * i + 1, 'a' + i), 30), answers[i].sink());
  for (int i = 0; i < 6; ++i) {
    QVERIFY(answers[i].waitForEnd());
    QVERIFY(answers[i].last<FinishedEvent>());
    QCOMPARE(idsOf(answers[i]), expected[i]);
    QCOMPARE(answers[i].lateEvents(), 0);
  }
}

void TestParallel::aSlowConsumerHoldsUpNobody() {
  const std::string path = write("slow.gguf");
  Gate gate;
  Answer slow;
  {
    EngineService service({.parallel = 2});
    load(service, path);
    service.submit(chatRequest("slow", 20), [&gate, sink = slow.sink()](GenerationEvent event) {
      if (std::holds_alternative<PieceEvent>(event)) gate.wait();
      sink(std::move(event));
    });
    for (int i = 0; i < 3; ++i) {
      const Answer quick = answered(service, chatRequest("quick", 20));
      QVERIFY(quick.last<FinishedEvent>());
    }
    QVERIFY(!slow.ended());
    gate.open();
  }
  QVERIFY(slow.last<FinishedEvent>());
}

// With one lane for all, the second request would wait for the first one's consumer.
void TestParallel::lanesAreLentAndUsedAgain() {
  for (const bool apart : {true, false}) {
    EventLanes lanes(apart ? EventLanes::kMost : 1);
    Gate gate;
    std::atomic<bool> held = false, came = false;
    EventLanes::Lane& first = lanes.borrow();
    EventLanes::Lane& second = lanes.borrow();
    QCOMPARE(&first != &second, apart);
    first.thread().post([&] {
      held = true;
      gate.wait();
    });
    QTRY_VERIFY(held);
    second.thread().post([&] { came = true; });
    if (apart) {
      QTRY_VERIFY(came);
    } else {
      QTest::qWait(50);
      QVERIFY(!came);
    }
    gate.open();
    QTRY_VERIFY(came);
    second.release();
    QCOMPARE(&lanes.borrow(), &second);
  }
}

void TestParallel::aLoadWaitsForWhatRuns() {
  const std::string path = write("load.gguf"), other = write("other.gguf", {.seed = 2});
  EngineService service({.parallel = 4});
  load(service, path);
  const auto expected = idsOf(answered(service, chatRequest("before", 60)));
  Answer before, after;
  Loading loading;
  service.submit(chatRequest("before", 60), before.sink());
  service.loadModel(other, {.threads = 1}, loading.sink());
  service.submit(chatRequest("before", 60), after.sink());
  QVERIFY(before.waitForEnd() && loading.waitForEnd() && after.waitForEnd());
  QVERIFY(loading.last<ModelInfo>());
  QCOMPARE(idsOf(before), expected);
  QVERIFY(after.last<FinishedEvent>());
  QVERIFY(idsOf(after) != expected);
}

void TestParallel::refusesNumbersOutOfRange() {
  const std::string path = write("range.gguf");
  for (const int parallel : {0, -1, 33}) {
    const auto engine = LoadedEngine::load(path, {.threads = 1}, {.parallel = parallel});
    QVERIFY(!engine.ok());
    QCOMPARE(engine.error().code, ErrorCode::kInvalidArgument);
    QCOMPARE(engine.error().field, std::string("parallel"));
  }
}

}  // namespace
}  // namespace tandem::test

QTEST_GUILESS_MAIN(tandem::test::TestParallel)
#include "test_parallel.moc"
