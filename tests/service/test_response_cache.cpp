// The response cache: only for who asks, only the very same greedy request, the same bytes, and a
// conversation that goes on as if the answer had been computed.
#include <QTest>
#include <functional>

#include "tests/service/gated_kernels.h"
#include "tests/service/service_fixture.h"

namespace tandem::test {
namespace {

using namespace service;

// Each changes one thing of a request that decides its answer, or what is told of it.
const std::vector<std::pair<const char*, std::function<void(GenerateRequest&)>>>& changes() {
  static const std::vector<std::pair<const char*, std::function<void(GenerateRequest&)>>> all = {
      {"prompt", [](GenerateRequest& r) { r.messages[0].content = "Hello."; }},
      {"system",
       [](GenerateRequest& r) {
         r.messages.insert(r.messages.begin(), {"system", "s"});
       }},
      {"max_tokens", [](GenerateRequest& r) { r.maxTokens = 5; }},
      {"min_tokens", [](GenerateRequest& r) { r.minTokens = 3; }},
      {"stop", [](GenerateRequest& r) { r.stop = {"\x7f\x7f"}; }},
      {"other stop", [](GenerateRequest& r) { r.stop = {"\x7f"}; }},
      {"stop_token_ids", [](GenerateRequest& r) { r.stopTokens = {127}; }},
      {"repetition_penalty", [](GenerateRequest& r) { r.sampling.repetitionPenalty = 1.5f; }},
      {"presence_penalty", [](GenerateRequest& r) { r.sampling.presencePenalty = 0.5f; }},
      {"frequency_penalty", [](GenerateRequest& r) { r.sampling.frequencyPenalty = 0.5f; }},
      {"penalty_window", [](GenerateRequest& r) { r.sampling.penaltyWindow = 4; }},
      {"no_repeat_ngram_size", [](GenerateRequest& r) { r.sampling.noRepeatNgramSize = 2; }},
      {"logit_bias",
       [](GenerateRequest& r) {
         r.sampling.logitBias = {{'a', 50}};
       }},
      {"top_k", [](GenerateRequest& r) { r.sampling.topK = 3; }},
      {"seed", [](GenerateRequest& r) { r.sampling.seed = 3; }},
      {"choice", [](GenerateRequest& r) { r.sampling.choice = 1; }},
      {"logprobs", [](GenerateRequest& r) { r.sampling.logprobs = 2; }},
      {"reasoning_budget", [](GenerateRequest& r) { r.reasoning.budget = 2; }},
      {"stall_close", [](GenerateRequest& r) { r.reasoning.stallClose = true; }},
      {"constraint", [](GenerateRequest& r) { r.constraint = ConstraintSpec::regex("[a-c]{3}"); }},
      {"other constraint", [](GenerateRequest& r) { r.constraint = ConstraintSpec::regex("[a-c]{2}"); }},
      {"fingerprint", [](GenerateRequest& r) { r.fingerprint = false; }},
  };
  return all;
}

std::vector<TextPiece> piecesOf(const Answer& answer) {
  std::vector<TextPiece> pieces;
  for (const GenerationEvent& event : answer.events())
    if (const auto* piece = std::get_if<PieceEvent>(&event)) pieces.push_back(piece->piece);
  return pieces;
}

// A key and an answer of some bytes, for the cache alone.
ResponseKey keyOf(int number) {
  return {.prompt = {number, number + 1}, .maxTokens = 7};
}
Response responseOf(const std::string& text, FinishReason finish = FinishReason::kEndToken) {
  Response response;
  response.pieces = {{text, {{1, TokenOrigin::kOwnText, static_cast<std::uint32_t>(text.size())}}}};
  response.stats.finish = finish;
  return response;
}

}  // namespace

class TestResponseCache : public QObject, ServiceFixture {
  Q_OBJECT

  std::string model_, other_;

  std::unique_ptr<EngineService> open(const EngineOptions& options = {}) {
    auto service = std::make_unique<EngineService>(options);
    load(*service, model_);
    return service;
  }
  static GenerateRequest request(std::string content = "Hello", int tokens = 8) {
    GenerateRequest request = chatRequest(std::move(content), tokens);
    request.fromResponses = request.fingerprint = true;
    return request;
  }
  static GenerationStats statsOf(const Answer& answer) {
    const auto ended = answer.last<FinishedEvent>();
    if (!ended) QTest::qFail("no answer", __FILE__, __LINE__);
    return ended ? ended->stats : GenerationStats();
  }
  static bool repeated(EngineService& service, const GenerateRequest& what) {
    return statsOf(answered(service, what)).fromResponse;
  }
  // Of requests that differ in one thing each, how many get an answer that is not theirs.
  int mistaken(const ResponseFaults& faults) {
    EngineOptions options;
    options.responses.faults = faults;
    const auto service = open(options);
    int count = repeated(*service, request()) ? 1 : 0;
    for (const auto& [name, change] : changes()) {
      GenerateRequest changed = request();
      change(changed);
      const bool wrong = repeated(*service, changed);
      count += wrong ? 1 : 0;
      // Once it is known, it is repeated as itself.
      if (!wrong && !repeated(*service, changed)) QTest::qFail(name, __FILE__, __LINE__);
    }
    return count;
  }

 private slots:
  void initTestCase() {
    QVERIFY(folder_.isValid());
    model_ = write("text.gguf");
    other_ = write("other.gguf", {.seed = 2});
  }

  void offUnlessAsked() {
    QVERIFY(!GenerateRequest().fromResponses);
    const auto service = open();
    GenerateRequest silent = request();
    silent.fromResponses = false;
    QVERIFY(!repeated(*service, silent) && !repeated(*service, silent));
    QVERIFY(!repeated(*service, request()));  // nor was it kept
    QVERIFY(repeated(*service, request()));
    QVERIFY(!repeated(*service, silent));
  }

  void theSameBytesComeAgain() {
    const auto service = open();
    GenerateRequest what = request("Hello", 30);
    what.sampling.logprobs = 3;
    const Answer first = answered(*service, what), again = answered(*service, what);
    const GenerationStats before = statsOf(first), stats = statsOf(again);
    QVERIFY(stats.fromResponse && !before.fromResponse);
    QVERIFY(textOf(again) == textOf(first) && idsOf(again) == idsOf(first));
    const auto pieces = piecesOf(first), repeatedPieces = piecesOf(again);
    QCOMPARE(repeatedPieces.size(), pieces.size());
    for (std::size_t i = 0; i < pieces.size(); ++i)
      QVERIFY(repeatedPieces[i].text == pieces[i].text && repeatedPieces[i].logprobs == pieces[i].logprobs &&
              !pieces[i].logprobs.empty());
    QVERIFY(stats.finish == before.finish && stats.logitsFingerprint == before.logitsFingerprint);
    QVERIFY(stats.promptTokens == before.promptTokens && stats.cachedTokens == before.promptTokens);
    QCOMPARE(stats.completionTokens, before.completionTokens);
    QCOMPARE(stats.acceptedBy[0], before.completionTokens);
    QVERIFY(stats.rounds == 0 && stats.drafted == 0 && stats.accepted == 0);
    QVERIFY(stats.decodeTokensPerSecond() == 0 && stats.prefillTokensPerSecond() == 0);
    QCOMPARE(std::string(cacheSourceName(stats)), std::string("response"));
    QVERIFY(again.last<FinishedEvent>()->prompt == first.last<FinishedEvent>()->prompt);
    for (const GenerationEvent& event : again.events())
      QVERIFY(!std::holds_alternative<RoundEvent>(event));
  }

  void everyOptionCounts() {
    QCOMPARE(mistaken({}), 0);
    QCOMPARE(mistaken({.oneHash = true}), 0);
    // The test sees a cache that compares too little.
    QVERIFY(mistaken({.oneHash = true, .trustHash = true}) > 0);
    QVERIFY(mistaken({.trustHash = true}) > 0);
    QVERIFY(mistaken({.ignoreOptions = true}) > 0);
  }

  void neverOfWhatIsSampledMeasuredOrGoesOn() {
    const auto service = open();
    const std::function<void(GenerateRequest&)> kinds[] = {
        [](GenerateRequest& r) { r.sampling.temperature = 0.7f; },
        [](GenerateRequest& r) { r.cached = false; },
        [](GenerateRequest& r) {
          r.answerSoFar = {'a', 'b'};
        },
        [](GenerateRequest& r) { r.speculation.relaxTau = 0.5f; },
    };
    for (const auto& kind : kinds) {
      GenerateRequest what = request();
      kind(what);
      QVERIFY(!mayRepeat(what, {}));
      QVERIFY(!repeated(*service, what) && !repeated(*service, what));
    }
    QVERIFY(mayRepeat(request(), {}) && !mayRepeat(request(), ChosenSampling()));
  }

  void whoDraftsDoesNotCount() {
    const auto service = open();
    GenerateRequest plain = request();
    plain.speculation = SpeculationOptions::off();
    QVERIFY(!repeated(*service, plain));
    QVERIFY(repeated(*service, request()));
    // What is refused stays refused.
    plain.speculation = SpeculationOptions::chain(TokenOrigin::kOwnText, 99);
    QVERIFY(answered(*service, plain).last<FailedEvent>());
  }

  void whatWasStoppedIsNotKept() {
    const auto service = open({.kernels = &gatedKernels()});
    for (int i = 0; i < 2; ++i) {
      Answer answer;
      gate::close();
      const auto handle = service->submit(request(), answer.sink());
      QVERIFY(gate::waitUntilHeld());
      handle->cancel();
      gate::open();
      QVERIFY(answer.waitForEnd());
      QVERIFY(statsOf(answer).finish == FinishReason::kCancelled && !statsOf(answer).fromResponse);
    }
    QVERIFY(!repeated(*service, request()));
    QVERIFY(repeated(*service, request()));
  }

  // The turn after an answer that was given again: the same as without any cache.
  void theNextTurnIsExact() {
    const auto cold = open();
    for (const std::size_t budget : {std::size_t{0}, std::size_t{64} << 20}) {
      EngineOptions options;
      options.cache.budget = budget;
      const auto service = open(options);
      QVERIFY(!repeated(*service, request("Hello", 20)));
      const Answer again = answered(*service, request("Hello", 20));
      QVERIFY(statsOf(again).fromResponse);
      GenerateRequest next = request("Hello", 20);
      next.messages.push_back({"assistant", textOf(again), idsOf(again)});
      next.messages.push_back({"user", "Go on"});
      const Answer warm = answered(*service, next), expected = answered(*cold, next);
      QVERIFY(idsOf(warm) == idsOf(expected));
      QVERIFY(statsOf(warm).logitsFingerprint == statsOf(expected).logitsFingerprint);
      QVERIFY(!statsOf(warm).fromResponse && (statsOf(warm).cachedTokens > 0) == (budget > 0));
    }
  }

  void itGoesWithTheModelAndTheConversation() {
    const auto service = open();
    GenerateRequest own = request();
    own.conversation = 5;
    QVERIFY(!repeated(*service, own) && repeated(*service, own));
    service->forgetConversation(4);
    QVERIFY(repeated(*service, own));
    service->forgetConversation(5);
    QVERIFY(!repeated(*service, own) && repeated(*service, own));
    load(*service, other_);
    QVERIFY(!repeated(*service, own));
    load(*service, model_);
    QVERIFY(!repeated(*service, own));
  }

  void theBudgetHolds() {
    ResponseCache cache({.budget = 20000});
    for (int i = 0; i < 100; ++i) {
      cache.insert(keyOf(i), responseOf(std::string(1000, 'x')), 0);
      QVERIFY(cache.bytes() <= 20000);
      QVERIFY(cache.find(keyOf(i)) && cache.find(keyOf(0)));  // used each time, so it stays
    }
    QVERIFY(!cache.find(keyOf(50)));
    cache.insert(keyOf(1000), responseOf(std::string(30000, 'x')), 0);
    QVERIFY(!cache.find(keyOf(1000)) && cache.find(keyOf(99)));
    for (const FinishReason finish : {FinishReason::kCancelled, FinishReason::kFailed}) {
      cache.insert(keyOf(1001), responseOf("x", finish), 0);
      QVERIFY(!cache.find(keyOf(1001)));
    }
    ResponseCache none({.budget = 0});
    none.insert(keyOf(1), responseOf("x"), 0);
    QVERIFY(!none.find(keyOf(1)) && none.bytes() == 0);
  }
};

}  // namespace tandem::test

QTEST_GUILESS_MAIN(tandem::test::TestResponseCache)
#include "test_response_cache.moc"
