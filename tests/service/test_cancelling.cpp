// A request is stopped in time in every state. Where the engine is at work, the test counts the layers it
// computes after the cancel; where it is not, the cancel must be heeded while the worker stands still.
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>
#include <thread>

#include "app/service/engine_service.h"
#include "tests/service/collector.h"
#include "tests/service/gated_kernels.h"
#include "tests/service/text_model.h"

namespace tandem::test {
namespace {

using namespace service;

constexpr int kPassRows = 512;  // of a prefill pass of the tiny model
constexpr int kHeedMs = 200;
const std::string kRecipe = TANDEM_TEST_DATA "/tiny-models/llama.json";

GenerateRequest rawRequest(std::string prompt, int maxTokens) {
  GenerateRequest request;
  request.rawPrompt = std::move(prompt);
  request.maxTokens = maxTokens;
  request.speculation = SpeculationOptions::off();
  return request;
}

FinishReason finishOf(const Answer& answer) {
  const auto finished = answer.last<FinishedEvent>();
  return finished ? finished->stats.finish : FinishReason::kFailed;
}

}  // namespace

class TestCancelling : public QObject {
  Q_OBJECT
 private slots:
  void initTestCase();
  void cleanup() { gate::open(); }
  void whileItWaits();
  void whileItIsPrepared();
  void inPrefill();
  void inDecode();
  void afterTheEnd();
  void afterTheService();
  void whenTheServiceGoes();

 private:
  void load(EngineService& service);

  QTemporaryDir folder_;
  std::string model_;
};

void TestCancelling::initTestCase() {
  QVERIFY(folder_.isValid());
  model_ = folder_.filePath("text.gguf").toStdString();
  QVERIFY(writeTextModel(kRecipe, model_).ok());
}

void TestCancelling::load(EngineService& service) {
  Loading loading;
  service.loadModel(model_, {.threads = 1}, loading.sink());
  QVERIFY(loading.waitForEnd());
  QVERIFY(loading.last<ModelInfo>());
}

// The worker is held in a layer of another request all the time.
void TestCancelling::whileItWaits() {
  EngineService service({.kernels = &gatedKernels()});
  load(service);
  gate::close();
  Answer first, second, third;
  service.submit(rawRequest("one", 4), first.sink());
  const auto handle = service.submit(rawRequest("two", 4), second.sink());
  service.submit(rawRequest("three", 4), third.sink());
  QVERIFY(gate::waitUntilHeld());

  QElapsedTimer clock;
  clock.start();
  handle->cancel();
  QVERIFY(second.waitForEnd());
  qInfo("heeded after %lld ms", clock.elapsed());
  QVERIFY(clock.elapsed() <= kHeedMs);
  QCOMPARE(finishOf(second), FinishReason::kCancelled);
  QVERIFY(!first.ended());

  gate::open();
  QVERIFY(first.waitForEnd());
  QVERIFY(third.waitForEnd());
  QCOMPARE(finishOf(first), FinishReason::kLength);
  QCOMPARE(finishOf(third), FinishReason::kLength);
  QCOMPARE(idsOf(third).size(), std::size_t{4});
  QVERIFY(idsOf(second).empty());
}

// Tokenising so much takes long; nobody waits for that.
void TestCancelling::whileItIsPrepared() {
  EngineService service({.kernels = &gatedKernels()});
  load(service);
  Answer answer;
  const auto handle = service.submit(rawRequest(std::string(5'000'000, 'a'), 1), answer.sink());
  QVERIFY(answer.waitFor<QueuedEvent>());
  QElapsedTimer clock;
  clock.start();
  handle->cancel();
  QVERIFY(answer.waitForEnd());
  qInfo("heeded after %lld ms", clock.elapsed());
  QVERIFY(clock.elapsed() <= kHeedMs);
  QCOMPARE(finishOf(answer), FinishReason::kCancelled);

  Answer next;
  service.submit(rawRequest("next", 2), next.sink());
  QVERIFY(next.waitForEnd());
  QCOMPARE(finishOf(next), FinishReason::kLength);
  QCOMPARE(answer.lateEvents(), 0);
}

void TestCancelling::inPrefill() {
  EngineService service({.kernels = &gatedKernels()});
  load(service);
  gate::close();
  Answer answer;
  const auto handle = service.submit(rawRequest(std::string(3000, 'p'), 8), answer.sink());
  QVERIFY(gate::waitUntilHeld());
  const long before = gate::rows();
  handle->cancel();
  gate::open();
  QVERIFY(answer.waitForEnd());
  const long rows = gate::rows() - before;
  qInfo("%ld rows of %d a layer computed after the cancel", rows, kPassRows);
  QVERIFY(rows <= kPassRows);
  QCOMPARE(finishOf(answer), FinishReason::kCancelled);
  QVERIFY(idsOf(answer).empty());
}

void TestCancelling::inDecode() {
  EngineService service({.kernels = &gatedKernels()});
  load(service);
  Answer answer;
  const auto handle = service.submit(rawRequest("decode", 0), answer.sink());
  QVERIFY(answer.waitFor<PieceEvent>());
  gate::close();
  QVERIFY(gate::waitUntilHeld());
  const long before = gate::rows();
  handle->cancel();
  gate::open();
  QVERIFY(answer.waitForEnd());
  QVERIFY(gate::rows() - before <= 1);  // the layer it was held in
  QCOMPARE(finishOf(answer), FinishReason::kCancelled);
  const auto finished = answer.last<FinishedEvent>();
  QCOMPARE(static_cast<std::size_t>(finished->stats.completionTokens), idsOf(answer).size());

  // What was written is the beginning of the whole text, and the worker goes on as if nothing had been.
  Answer whole;
  service.submit(rawRequest("decode", static_cast<int>(idsOf(answer).size()) + 3), whole.sink());
  QVERIFY(whole.waitForEnd());
  QVERIFY(textOf(whole).starts_with(textOf(answer)));
}

void TestCancelling::afterTheEnd() {
  EngineService service({.kernels = &gatedKernels()});
  load(service);
  Answer answer;
  const auto handle = service.submit(rawRequest("end", 2), answer.sink());
  QVERIFY(answer.waitForEnd());
  handle->cancel();
  Answer next;
  service.submit(rawRequest("end", 2), next.sink());
  QVERIFY(next.waitForEnd());
  QCOMPARE(finishOf(next), FinishReason::kLength);
  QCOMPARE(idsOf(next), idsOf(answer));
  QCOMPARE(answer.lateEvents(), 0);
}

void TestCancelling::afterTheService() {
  std::shared_ptr<RequestHandle> handle;
  Answer answer;
  {
    EngineService service({.kernels = &gatedKernels()});
    load(service);
    handle = service.submit(rawRequest("gone", 0), answer.sink());
  }
  handle->cancel();
  QVERIFY(answer.ended());
  QCOMPARE(finishOf(answer), FinishReason::kCancelled);
  QCOMPARE(answer.lateEvents(), 0);
}

// Running, waiting and loading: every sink has had its last event when the destructor returns.
void TestCancelling::whenTheServiceGoes() {
  Answer running, waiting;
  Loading loading;
  long before = 0;
  {
    EngineService service({.kernels = &gatedKernels()});
    load(service);
    gate::close();
    service.submit(rawRequest("running", 0), running.sink());
    QVERIFY(gate::waitUntilHeld());
    service.submit(rawRequest("waiting", 0), waiting.sink());
    service.loadModel(model_, {}, loading.sink());
    before = gate::rows();
    std::thread opener([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      gate::open();
    });
    opener.detach();
  }
  QVERIFY(gate::rows() - before <= static_cast<long>(std::string_view("running").size()));
  QVERIFY(running.ended() && waiting.ended() && loading.ended());
  QCOMPARE(finishOf(running), FinishReason::kCancelled);
  QCOMPARE(finishOf(waiting), FinishReason::kCancelled);
  QCOMPARE(loading.last<Error>()->code, ErrorCode::kCancelled);
}

}  // namespace tandem::test

QTEST_GUILESS_MAIN(tandem::test::TestCancelling)
#include "test_cancelling.moc"
