// The service's queue with a tiny model: the order of events, loads that succeed and fail, and what is
// refused.
#include <QTest>

#include "tests/gguf/model_copy.h"
#include "tests/service/service_fixture.h"

namespace tandem::test {

using namespace service;

class TestEngineService : public QObject, ServiceFixture {
  Q_OBJECT
 private slots:
  void initTestCase();
  void refusesWithoutAModel();
  void tellsOfTheModel();
  void eventsComeInOrder();
  void requestsWaitTheirTurn();
  void aFailedLoadKeepsTheModel();
  void takesAPreTokenizerByName();
  void requestsWaitForALoad();
  void aNewerLoadReplacesAnOlderOne();
  void goesOnFromAnAnswer();
  void draftsChangeNothing();
  void refusesParameters();
  void boundsTheContext();

 private:
  std::string model_;
};

void TestEngineService::initTestCase() {
  QVERIFY(folder_.isValid());
  model_ = write("text.gguf");
}

void TestEngineService::refusesWithoutAModel() {
  EngineService service;
  QVERIFY(!service.model());
  const Answer answer = answered(service, chatRequest("Hello", 4));
  const auto failed = answer.last<FailedEvent>();
  QVERIFY(failed);
  QCOMPARE(failed->error.code, ErrorCode::kNotFound);
  QCOMPARE(failed->error.message, std::string("No model is loaded. Choose a model first."));
  QCOMPARE(failed->stats.finish, FinishReason::kFailed);
}

void TestEngineService::tellsOfTheModel() {
  EngineService service;
  load(service, model_);
  const auto info = service.model();
  QVERIFY(info);
  QCOMPARE(info->path, model_);
  QCOMPARE(info->name, std::string("Tiny text"));
  QCOMPARE(info->architecture, std::string("llama"));
  QCOMPARE(info->contextLength, 4096);
  QCOMPARE(info->vocabSize, 128);
  QCOMPARE(info->threads, 1);
  QVERIFY(info->hasChatTemplate);
  QCOMPARE(info->endTokens.size(), std::size_t{1});
  QCOMPARE(info->endTokens[0].id, kTextModelEnd);
  QCOMPARE(info->fingerprint.size(), std::size_t{32});
}

void TestEngineService::eventsComeInOrder() {
  EngineService service;
  load(service, model_);
  const Answer answer = answered(service, chatRequest("Tell me a story", 12));
  const auto events = answer.events();
  QVERIFY(events.size() >= 4);
  QCOMPARE(std::get<QueuedEvent>(events[0]).ahead, 0);
  std::size_t i = 1;
  int done = 0;
  for (; std::holds_alternative<PrefillEvent>(events[i]); ++i) {
    QVERIFY(std::get<PrefillEvent>(events[i]).done > done);
    done = std::get<PrefillEvent>(events[i]).done;
    QCOMPARE(std::get<PrefillEvent>(events[i]).total,
             static_cast<int>(std::string("..user:Tell me a story").size()));
  }
  QCOMPARE(done, static_cast<int>(std::string("..user:Tell me a story").size()));
  // The prefill's token, then a piece and what was drafted for it round by round.
  int rounds = 0;
  QVERIFY(std::holds_alternative<PieceEvent>(events[i]));
  for (++i; i + 1 < events.size(); i += 2) {
    QVERIFY(std::holds_alternative<PieceEvent>(events[i]));
    QCOMPARE(std::get<RoundEvent>(events[i + 1]).report.round, rounds++);
    QVERIFY(!std::get<RoundEvent>(events[i + 1]).report.reason.empty());
  }
  const auto finished = answer.last<FinishedEvent>();
  QVERIFY(finished);
  QCOMPARE(finished->stats.rounds, rounds);
  QCOMPARE(finished->stats.promptTokens, done);
  QCOMPARE(static_cast<int>(finished->prompt.size()), done);
  QCOMPARE(static_cast<std::size_t>(finished->stats.completionTokens), idsOf(answer).size());
  QVERIFY(finished->stats.totalMs >= finished->stats.queueMs);
  QCOMPARE(answer.lateEvents(), 0);
}

void TestEngineService::requestsWaitTheirTurn() {
  EngineService service;
  load(service, model_);
  std::vector<Answer> answers(6);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    service.submit(chatRequest("Number " + std::to_string(i), 40), answers[i].sink());
  }
  for (const Answer& answer : answers) {
    QVERIFY(answer.waitForEnd());
    QVERIFY(answer.last<FinishedEvent>());
    // Places only ever come nearer.
    int ahead = static_cast<int>(answers.size());
    for (const auto& event : answer.events()) {
      if (const auto* queued = std::get_if<QueuedEvent>(&event)) {
        QVERIFY(queued->ahead < ahead);
        ahead = queued->ahead;
      }
    }
  }
  // Each got its own text: the same as alone.
  for (std::size_t i = 0; i < answers.size(); ++i) {
    QCOMPARE(idsOf(answers[i]), idsOf(answered(service, chatRequest("Number " + std::to_string(i), 40))));
  }
}

void TestEngineService::aFailedLoadKeepsTheModel() {
  EngineService service;
  load(service, model_);
  const std::vector<TokenId> before = idsOf(answered(service, chatRequest("Still there?", 8)));
  Loading loading;
  service.loadModel(folder_.filePath("missing.gguf").toStdString(), {}, loading.sink());
  QVERIFY(loading.waitForEnd());
  QVERIFY(loading.last<Error>());
  QCOMPARE(loading.last<Error>()->code, ErrorCode::kNotFound);
  QVERIFY(service.model());
  QCOMPARE(service.model()->path, model_);
  QCOMPARE(idsOf(answered(service, chatRequest("Still there?", 8))), before);

  Loading negative;
  service.loadModel(model_, {.threads = -1}, negative.sink());
  QVERIFY(negative.waitForEnd());
  QCOMPARE(negative.last<Error>()->code, ErrorCode::kInvalidArgument);
}

void TestEngineService::takesAPreTokenizerByName() {
  const std::string nameless = folder_.filePath("nameless.gguf").toStdString();
  auto copy = ModelCopy::of(model_);
  QVERIFY(copy.ok());
  copy->dropKey("tokenizer.ggml.pre");
  QVERIFY(copy->write(nameless).ok());

  EngineService service;
  const auto loadError = [&](const char* preTokenizer) {
    Loading loading;
    service.loadModel(nameless, {.threads = 1, .preTokenizer = preTokenizer}, loading.sink());
    if (!loading.waitForEnd()) qFatal("no end within a minute");
    return loading.last<Error>();
  };
  QCOMPARE(loadError("").value().code, ErrorCode::kUnsupported);
  QCOMPARE(loadError("none-such").value().code, ErrorCode::kInvalidArgument);
  QVERIFY(!loadError("smollm"));
  const Answer answer = answered(service, chatRequest("Hello", 4));
  QVERIFY(answer.last<FinishedEvent>());

  load(service, model_);
  QCOMPARE(idsOf(answered(service, chatRequest("Hello", 4))), idsOf(answer));
}

void TestEngineService::requestsWaitForALoad() {
  EngineService service;
  Loading loading;
  service.loadModel(model_, {.threads = 1}, loading.sink());
  const Answer answer = answered(service, chatRequest("Early", 3));
  QVERIFY(loading.ended());
  QVERIFY(answer.last<FinishedEvent>());
  double fraction = 0;
  for (const auto& event : loading.events()) {
    if (const auto* progress = std::get_if<LoadProgressEvent>(&event)) {
      QVERIFY(progress->fraction >= fraction && progress->fraction <= 1);
      fraction = progress->fraction;
    }
  }
  QCOMPARE(loading.lateEvents(), 0);
}

// What was submitted for the older load is answered by the newer model, never by none.
void TestEngineService::aNewerLoadReplacesAnOlderOne() {
  const std::string other = write("other.gguf", {.seed = 2});
  EngineService service;
  Loading first, second, third;
  Answer between;
  service.loadModel(model_, {.threads = 1}, first.sink());
  service.loadModel(model_, {.threads = 1}, second.sink());
  service.submit(chatRequest("Who are you?", 5), between.sink());
  service.loadModel(other, {.threads = 1}, third.sink());
  QVERIFY(third.waitForEnd());
  QVERIFY(third.last<ModelInfo>());
  QVERIFY(first.waitForEnd() && second.waitForEnd());
  QCOMPARE(second.last<Error>()->code, ErrorCode::kCancelled);
  QCOMPARE(service.model()->path, other);
  QVERIFY(between.waitForEnd());
  QVERIFY(between.last<FinishedEvent>());
  QCOMPARE(idsOf(between), idsOf(answered(service, chatRequest("Who are you?", 5))));
}

void TestEngineService::goesOnFromAnAnswer() {
  EngineService service;
  load(service, model_);
  GenerateRequest request = chatRequest("Long one", 30);
  request.sampling = {.temperature = 0.9f, .seed = 5};
  const std::vector<TokenId> whole = idsOf(answered(service, request));
  QCOMPARE(whole.size(), std::size_t{30});
  request.answerSoFar.assign(whole.begin(), whole.begin() + 11);
  request.maxTokens = 19;
  const std::vector<TokenId> rest = idsOf(answered(service, request));
  QCOMPARE(rest, std::vector<TokenId>(whole.begin() + 11, whole.end()));
}

void TestEngineService::draftsChangeNothing() {
  EngineService service;
  load(service, model_);
  GenerateRequest request = chatRequest("abcabcabcabcabc", 60);
  std::vector<std::vector<TokenId>> texts;
  for (const SpeculationOptions& speculation :
       {SpeculationOptions::off(), SpeculationOptions::chain(TokenOrigin::kOwnText, 7),
        SpeculationOptions::tree(TokenOrigin::kWrong, 7)}) {
    request.speculation = speculation;
    const Answer answer = answered(service, request);
    texts.push_back(idsOf(answer));
    const auto finished = answer.last<FinishedEvent>();
    QVERIFY(finished);
    QCOMPARE(finished->stats.drafted > 0, speculation.enabled());
  }
  QCOMPARE(texts[1], texts[0]);
  QCOMPARE(texts[2], texts[0]);
}

void TestEngineService::refusesParameters() {
  EngineService service;
  load(service, model_);
  GenerateRequest request = chatRequest("Hello", 4);
  request.sampling.temperature = -1;
  const auto failed = answered(service, request).last<FailedEvent>();
  QVERIFY(failed);
  QCOMPARE(failed->error.code, ErrorCode::kInvalidArgument);
  request.sampling = {};
  request.answerSoFar = {4, 128};
  QCOMPARE(answered(service, request).last<FailedEvent>()->error.code, ErrorCode::kInvalidArgument);
  request.answerSoFar = {4, 127};
  QVERIFY(answered(service, request).last<FinishedEvent>());
}

void TestEngineService::boundsTheContext() {
  ModelConfig config;
  config.contextLength = 8192;
  config.headDim = 64;
  MemoryPlan plan;
  plan.cachePerToken = 1000;
  const auto bounded = [&](std::uint64_t available, int wanted, kernels::CacheType type, int parallel = 1) {
    plan.available = available;
    return boundedContext(plan, config, wanted, type, parallel);
  };
  using kernels::CacheType;
  QCOMPARE(bounded(0, 0, CacheType::kF16), 8192);  // not known
  QCOMPARE(bounded(1'000'000'000, 0, CacheType::kF16), 8192);
  QCOMPARE(bounded(1'000'000'000, 100, CacheType::kF16), 100);
  QCOMPARE(bounded(1'000'000'000, 10'000, CacheType::kF16), 8192);
  QCOMPARE(bounded(4'000'000, 0, CacheType::kF16), 3000);
  QCOMPARE(bounded(4'000'000, 0, CacheType::kF32), 1500);
  QCOMPARE(bounded(4'000'000, 0, CacheType::kVq8), 3921);  // 196 bytes in the place of 256
  QCOMPARE(bounded(4'000'000, 0, CacheType::kQ8), 5649);   // 136
  QCOMPARE(bounded(1000, 0, CacheType::kF16), 0);
  QCOMPARE(bounded(4'000'000, 0, CacheType::kF16, 3), 1000);  // one of three
}

}  // namespace tandem::test

QTEST_GUILESS_MAIN(tandem::test::TestEngineService)
#include "test_engine_service.moc"
