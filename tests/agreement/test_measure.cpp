// What `bench` measures with: repeats of a text, the staircase of verify passes, the simulator.
#include <QTemporaryDir>
#include <QtTest>

#include "engine/measure/repeats.h"
#include "engine/measure/simulator.h"
#include "engine/session/generator.h"
#include "tests/gguf/tiny_models.h"

using namespace tandem;
using namespace tandem::test;

class TestMeasure : public QObject {
  Q_OBJECT

  QTemporaryDir dir_;
  std::unique_ptr<Decoder> decoder_;
  SpeculationResources resources_;

  // A staircase whose steps are four rows wide.
  static measure::Staircase steps() {
    measure::Staircase staircase;
    for (int rows = 1; rows <= 32; ++rows)
      staircase.ms.push_back(10.0 * ((rows + 3) / 4));
    return staircase;
  }
  static measure::RoundPrices prices() { return {.verify = steps(), .plain = steps().of(1)}; }

 private slots:
  void initTestCase() {
    const std::string path = (dir_.path() + "/llama.gguf").toStdString();
    QVERIFY(writeTinyModel(std::string(TANDEM_TEST_DATA) + "/tiny-models/llama.json", path).ok());
    auto model = Model::load(path);
    QVERIFY(model.ok());
    auto decoder = Decoder::create(*model, {.threads = 1});
    QVERIFY(decoder.ok());
    decoder_ = std::move(*decoder);
  }

  void repeatsAreCounted() {
    std::vector<TokenId> text;
    for (int i = 0; i < 100; ++i)
      text.push_back(i);
    QCOMPARE(measure::mostOccurrences(text, 16), 1);
    QVERIFY(!measure::repeatsItself(text));
    QCOMPARE(measure::mostOccurrences(std::span(text).first(15), 16), 0);
    std::vector<TokenId> twice(text.begin(), text.begin() + 20), thrice = twice;
    twice.insert(twice.end(), text.begin(), text.begin() + 20);
    QCOMPARE(measure::mostOccurrences(twice, 16), 2);
    QVERIFY(!measure::repeatsItself(twice));
    for (int i = 0; i < 2; ++i)
      thrice.insert(thrice.end(), text.begin(), text.begin() + 20);
    QVERIFY(measure::repeatsItself(thrice));
  }

  void theStaircaseHasAStepForEveryRowCount() {
    const std::vector<TokenId> context(70, 3);
    const auto staircase = measure::measureStaircase(*decoder_, context, 32, 2);
    QVERIFY(staircase.ok());
    QCOMPARE(staircase->ms.size(), std::size_t(32));
    QVERIFY(*std::min_element(staircase->ms.begin(), staircase->ms.end()) > 0);
    QCOMPARE(measure::median({3, 1, 2}), 2.0);
    QCOMPARE(measure::median({4, 1, 2, 3}), 2.5);
  }

  // The simulator's rounds are the loop's rounds.
  void theSimulatorWalksAsTheLoopDoes() {
    Generation request;
    for (int i = 0; i < 40; ++i)
      request.prompt.push_back((i % 8) * 3 + 1);
    request.maxTokens = 120;
    request.endAtEndTokens = false;
    for (const TokenOrigin drafter : {TokenOrigin::kOwnText, TokenOrigin::kHalfRight, TokenOrigin::kOracle}) {
      for (const DraftShape shape :
           {DraftShape{DraftShape::Kind::kChain, 7}, DraftShape{DraftShape::Kind::kTree, 15}}) {
        request.speculation = SpeculationOptions::off();
        Generator generator(*decoder_);
        const auto plain = generator.run(request, {});
        QVERIFY(plain.status.ok());
        request.speculation = SpeculationOptions::of({drafter}, shape);
        request.speculation.reference = plain.tokens;
        const auto real = generator.run(request, {});
        QCOMPARE(real.tokens, plain.tokens);
        const auto simulated =
            simulate(request.prompt, plain.tokens, request.speculation, resources_, 128, prices());
        QCOMPARE(simulated.rounds, real.stats.rounds);
        QCOMPARE(simulated.drafted, real.stats.drafted);
        QCOMPARE(simulated.accepted, real.stats.accepted);
      }
    }
  }

  void theSimulatorPricesByTheStaircase() {
    const std::vector<TokenId> prompt = {1, 2, 3}, answer(65, 5);
    const auto off = simulate(prompt, answer, SpeculationOptions::off(), resources_, 128, prices());
    QCOMPARE(off.rounds, 64);
    QCOMPARE(off.plainMs, 640.0);
    QVERIFY(off.ms >= 640 && off.gain() > 0.9);
    SpeculationOptions oracle = SpeculationOptions::chain(TokenOrigin::kOracle, 7);
    oracle.reference = answer;
    // Eight tokens a round, eight rows of 20 ms.
    const auto drafted = simulate(prompt, answer, oracle, resources_, 128, prices());
    QCOMPARE(drafted.rounds, 8);
    QVERIFY(drafted.ms >= 160 && drafted.gain() > 3.5 && drafted.gain() <= 4);
    measure::RoundPrices dear = prices();
    dear.commit = 2.5;
    QVERIFY(simulate(prompt, answer, oracle, resources_, 128, dear).ms >= 160 + 64 * 2.5);
  }
};

QTEST_APPLESS_MAIN(TestMeasure)
#include "test_measure.moc"
