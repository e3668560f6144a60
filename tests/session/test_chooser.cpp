// What a request asks of each choice: the chooser against the long way on random rows along the paths of
// trees, each option at its edges, and what is told of the distribution.
#include <QtTest>
#include <cmath>
#include <random>

#include "engine/agreement/reference_choice.h"
#include "engine/sampler/chooser.h"
#include "engine/sampler/sampler.h"

using namespace tandem;
using agreement::referenceChoice;

namespace {

constexpr int kVocabulary = 40;
using Ids = std::vector<TokenId>;

std::vector<float> randomRow(std::mt19937& random) {
  std::vector<float> row(kVocabulary);
  for (float& score : row)
    score = static_cast<float>(static_cast<int>(random() % 64) - 32) * 0.25f;  // with equal ones
  return row;
}

Ids randomTokens(std::mt19937& random, int count, int distinct) {
  Ids tokens;
  for (int i = 0; i < count; ++i)
    tokens.push_back(static_cast<TokenId>(random() % distinct));
  return tokens;
}

// A row on which token `best` leads by far, then 0, 1, 2, ...
std::vector<float> row(TokenId best, float lead = 50) {
  std::vector<float> scores(kVocabulary);
  for (int i = 0; i < kVocabulary; ++i)
    scores[i] = 10.0f - static_cast<float>(i) * 0.1f;
  scores[best] = lead;
  return scores;
}

Chooser chooser(const SamplingParams& params, const Ids& prompt, const Ids& answer = {}, int minTokens = 0,
                const Ids& ends = {}) {
  Chooser made(params, minTokens, ends);
  made.begin(prompt);
  for (const TokenId token : answer)
    made.push(token);
  return made;
}

SamplingParams randomOptions(std::mt19937& random) {
  const auto one = [&](std::initializer_list<float> values) {
    return *(values.begin() + random() % values.size());
  };
  SamplingParams p;
  if (random() % 8 == 0) return p;
  p.temperature = one({0.0f, 0.7f, 1.0f, 3.0f});
  p.topK = static_cast<int>(one({0, 0, 1, 5, 39, 40, 1000}));
  p.topP = one({1.0f, 1.0f, 0.9f, 0.3f, 1e-6f});
  p.minP = one({0.0f, 0.0f, 0.05f, 1.0f});
  p.seed = random();
  p.choice = random() % 3;
  p.repetitionPenalty = one({1.0f, 1.0f, 1.3f, 0.5f, 1000.0f});
  p.presencePenalty = one({0.0f, 0.0f, 0.7f, -2.0f});
  p.frequencyPenalty = one({0.0f, 0.0f, 0.4f, -1.5f});
  p.penaltyWindow = static_cast<int>(one({0, 0, 1, 4, 17, 1000}));
  p.noRepeatNgramSize = static_cast<int>(one({0, 0, 1, 2, 3, 60}));
  for (int i = static_cast<int>(one({0, 0, 1, 9})); i > 0; --i)
    p.logitBias.push_back({3 * i, one({-100.0f, -2.0f, 0.0f, 3.0f, 100.0f})});
  return p;
}

}  // namespace

class TestChooser : public QObject {
  Q_OBJECT

  // Walks a random tree below the chooser's path; every node's choice must be the long way's.
  static void walk(Chooser& chooser, std::mt19937& random, const Ids& prompt, Ids& answer, int minTokens,
                   const Ids& ends, int depth, int& nodes) {
    const std::vector<float> logits = randomRow(random);
    const Ids barred = static_cast<int>(answer.size()) < minTokens ? ends : Ids();
    const TokenId expected = referenceChoice(logits, chooser.sampling(), prompt, answer, barred);
    QCOMPARE(chooser.choose(logits), expected);
    if (chooser.takesHighest()) QCOMPARE(argmax(logits), expected);
    ++nodes;
    for (int child = 0; depth > 0 && child < 2; ++child) {
      answer.push_back(static_cast<TokenId>(random() % 6));
      chooser.push(answer.back());
      walk(chooser, random, prompt, answer, minTokens, ends, depth - 1, nodes);
      chooser.pop();
      answer.pop_back();
    }
  }

 private slots:
  void everyNodeOfATreeIsChosenAsTheLongWay() {
    std::mt19937 random(11);
    int nodes = 0, highest = 0;
    for (int round = 0; round < 800; ++round) {
      const Ids prompt = randomTokens(random, 1 + static_cast<int>(random() % 30), 6);
      Ids answer = randomTokens(random, static_cast<int>(random() % 20), 6);
      const int minTokens = static_cast<int>(random() % 3) * 10;
      const Ids ends = random() % 4 == 0 ? Ids() : Ids{2, 5, 5, 39};
      Chooser made = chooser(randomOptions(random), prompt, answer, minTokens, ends);
      highest += made.takesHighest();
      walk(made, random, prompt, answer, minTokens, ends, 5, nodes);
      if (QTest::currentTestFailed()) return;
    }
    QCOMPARE(nodes, 800 * 63);
    QVERIFY(highest > 0);
  }

  // A chooser that forgets to take back what a sibling pushed is not the long way's.
  void aHistoryThatKeepsAnotherBranchIsCaught() {
    SamplingParams p;
    p.presencePenalty = 2;
    Chooser made = chooser(p, {1}, {3});
    std::vector<float> scores = row(7, 10.5f);
    QCOMPARE(made.choose(scores), 7);
    made.push(7);
    QCOMPARE(made.choose(scores), 0);
    made.pop();
    QCOMPARE(made.choose(scores), 7);
  }

  void penaltiesCountWhatIsWritten() {
    SamplingParams p;
    p.repetitionPenalty = 2;
    const std::vector<float> logits = row(7, 12);
    // Of the prompt and of the answer.
    QCOMPARE(chooser(p, {7}).choose(logits), 0);
    QCOMPARE(chooser(p, {1}, {7}).choose(logits), 0);
    // Divides what is above 0, multiplies what is below.
    std::vector<float> low(kVocabulary, -5);
    low[7] = -3;
    QCOMPARE(chooser(p, {7}).scores(low)[7], -6.0f);
    QCOMPARE(chooser(p, {7}).scores(logits)[7], 6.0f);
    // Once, however often.
    QCOMPARE(chooser(p, {7, 7, 7}, {7}).scores(logits)[7], 6.0f);
    // In the window only.
    p.penaltyWindow = 2;
    QCOMPARE(chooser(p, {7}, {1}).scores(logits)[7], 6.0f);
    QCOMPARE(chooser(p, {7}, {1, 2}).scores(logits)[7], 12.0f);

    SamplingParams answerOnly;
    answerOnly.presencePenalty = 0.5f;
    answerOnly.frequencyPenalty = 0.25f;
    QCOMPARE(chooser(answerOnly, {7, 7}).scores(logits)[7], 12.0f);
    QCOMPARE(chooser(answerOnly, {7, 7}, {7}).scores(logits)[7], 11.25f);
    QCOMPARE(chooser(answerOnly, {7, 7}, {7, 7}).scores(logits)[7], 11.0f);
    answerOnly.penaltyWindow = 1;
    QCOMPARE(chooser(answerOnly, {7, 7}, {7, 7}).scores(logits)[7], 11.25f);
    QCOMPARE(chooser(answerOnly, {7, 7}, {7, 1}).scores(logits)[7], 12.0f);
  }

  void noRunComesTwice() {
    SamplingParams p;
    const std::vector<float> logits = row(7);
    p.noRepeatNgramSize = 1;
    QCOMPARE(chooser(p, {1}).choose(logits), 7);
    QCOMPARE(chooser(p, {7}).choose(logits), 0);
    p.noRepeatNgramSize = 3;
    QCOMPARE(chooser(p, {4, 5, 7}, {4, 5}).choose(logits), 0);  // of prompt and answer
    QCOMPARE(chooser(p, {4}, {5, 7, 4, 5}).choose(logits), 0);  // across both
    QCOMPARE(chooser(p, {4, 5, 7}, {5, 5}).choose(logits), 7);
    QCOMPARE(chooser(p, {4, 5, 0}, {4, 5, 7, 4, 5}).choose(logits), 1);  // all that followed
    QCOMPARE(chooser(p, {4, 5}).choose(logits), 7);                      // too short to repeat
  }

  void biasesAreAdded() {
    SamplingParams p;
    p.logitBias = {{7, -100}, {3, 100}, {0, 0}};
    QCOMPARE(chooser(p, {1}).choose(row(7)), 3);
    p.logitBias = {{7, -100}};
    QCOMPARE(chooser(p, {1}).choose(row(7)), 0);
  }

  void endsAreBarredBeforeTheMinimum() {
    Chooser made = chooser({}, {1}, {}, 2, {7, 0});
    QVERIFY(!made.takesHighest());
    QCOMPARE(made.choose(row(7)), 1);
    made.push(1);
    QCOMPARE(made.choose(row(7)), 1);
    made.push(1);
    QVERIFY(made.takesHighest());
    QCOMPARE(made.choose(row(7)), 7);
    made.pop();
    QCOMPARE(made.choose(row(7)), 1);
  }

  // A bar that would leave nothing is lifted, the one of runs first.
  void barsThatLeaveNothingAreLifted() {
    Ids all;
    for (int i = 0; i < kVocabulary; ++i)
      all.push_back(i);
    SamplingParams p;
    p.noRepeatNgramSize = 1;
    QCOMPARE(chooser(p, all).choose(row(7)), 7);
    QCOMPARE(chooser({}, {1}, {}, 5, all).choose(row(7)), 7);
    const Ids allButSeven = [&] {
      Ids some = all;
      std::erase(some, 7);
      return some;
    }();
    QCOMPARE(chooser(p, allButSeven, {}, 5, {7}).choose(row(7)), 0);  // runs may repeat, ends may not come
  }

  void barredTokensAreNeverDrawn() {
    std::mt19937 random(3);
    for (const std::int64_t topK : {0, 3, 30, 100}) {
      for (const float temperature : {1e-38f, 1.0f, 1e30f, 3e38f}) {
        SamplingParams p;
        p.temperature = temperature;
        p.topK = topK;
        p.noRepeatNgramSize = 1;
        Ids most;
        for (int i = 2; i < kVocabulary; ++i)
          most.push_back(i);
        Chooser made = chooser(p, most);
        for (int i = 0; i < 200; ++i) {
          const TokenId token = made.choose(randomRow(random));
          QVERIFY(token == 0 || token == 1);
          made.push(5);
        }
      }
    }
  }

  void logprobsAreOfTheDistributionThatIsDrawnFrom() {
    // Scores with probabilities 1/2, 1/4, 1/8, 1/8 at temperature 1.
    const float ln2 = std::log(2.0f);
    const std::vector<float> logits = {-3 * ln2, -ln2, -2 * ln2, -3 * ln2};
    const auto near = [](double a, double b) { return std::fabs(a - b) < 1e-6; };
    SamplingParams p;
    p.logprobs = 2;
    ChosenLogprobs told = chooser(p, {1}).logprobs(logits, 3);
    QVERIFY(near(told.chosen, -3 * ln2));
    QCOMPARE(told.top.size(), std::size_t(2));
    QVERIFY(told.top[0].token == 1 && near(told.top[0].logprob, -ln2));
    QVERIFY(told.top[1].token == 2 && near(told.top[1].logprob, -2 * ln2));
    p.logprobs = 20;  // no more than there are; of equal ones the lower id first
    told = chooser(p, {1}).logprobs(logits, 3);
    QCOMPARE(told.top.size(), std::size_t(4));
    QVERIFY(told.top[2].token == 0 && told.top[3].token == 3);
    p.logprobs = 0;
    QVERIFY(chooser(p, {1}).logprobs(logits, 3).top.empty());
    // After temperature and filters: of 1/2 and 1/4 at temperature 1/2 the first has 4/5.
    p = {.temperature = 0.5f, .topK = 2, .logprobs = 5};
    told = chooser(p, {1}).logprobs(logits, 2);
    QCOMPARE(told.top.size(), std::size_t(2));
    QVERIFY(near(told.chosen, std::log(0.2)) && near(told.top[0].logprob, std::log(0.8)));
    // After penalties, biases and bars.
    p = {.noRepeatNgramSize = 1, .logitBias = {{2, ln2}}, .logprobs = 5};
    told = chooser(p, {1}).logprobs(logits, 2);
    QCOMPARE(told.top.size(), std::size_t(3));
    QVERIFY(near(told.chosen, std::log(0.5 / 0.75)));
    QVERIFY(std::isinf(chooser(p, {1}).logprobs(logits, 1).chosen));
  }

  // The sum of what is told is what a long list holds.
  void logprobsSumToOne() {
    std::mt19937 random(5);
    for (int i = 0; i < 50; ++i) {
      SamplingParams p = randomOptions(random);
      p.topK = 20;
      p.logprobs = 20;
      if (p.greedy()) p.temperature = 1;
      const auto told = chooser(p, randomTokens(random, 20, 6)).logprobs(randomRow(random), 0);
      double sum = 0;
      for (const TokenLogprob& t : told.top)
        sum += std::exp(t.logprob);
      QVERIFY(std::fabs(sum - 1) < 1e-9);
    }
  }

  void badValuesAreRefusedByName_data() {
    QTest::addColumn<QString>("field");
    QTest::addColumn<int>("which");
    const char* fields[] = {"repetition_penalty",   "presence_penalty", "frequency_penalty", "penalty_window",
                            "no_repeat_ngram_size", "logit_bias",       "logprobs"};
    for (int i = 0; i < 7; ++i)
      QTest::newRow(fields[i]) << QString(fields[i]) << i;
  }
  void badValuesAreRefusedByName() {
    QFETCH(QString, field);
    QFETCH(int, which);
    const float nan = std::nanf(""), inf = INFINITY;
    std::vector<SamplingParams> bad, good;
    const auto with = [](auto set) {
      SamplingParams p;
      set(p);
      return p;
    };
    const auto floats = [&](float SamplingParams::*member, std::initializer_list<float> refused,
                            std::initializer_list<float> allowed) {
      for (const float v : refused)
        bad.push_back(with([&](SamplingParams& p) { p.*member = v; }));
      for (const float v : allowed)
        good.push_back(with([&](SamplingParams& p) { p.*member = v; }));
    };
    const auto ints = [&](int SamplingParams::*member, std::initializer_list<int> refused,
                          std::initializer_list<int> allowed) {
      for (const int v : refused)
        bad.push_back(with([&](SamplingParams& p) { p.*member = v; }));
      for (const int v : allowed)
        good.push_back(with([&](SamplingParams& p) { p.*member = v; }));
    };
    const auto biases = [&](std::vector<TokenBias> list) {
      return with([&](SamplingParams& p) { p.logitBias = std::move(list); });
    };
    switch (which) {
      case 0:
        floats(&SamplingParams::repetitionPenalty, {0, -1, 0.0009f, 1001, nan, inf}, {0.001f, 1, 1000});
        break;
      case 1:
        floats(&SamplingParams::presencePenalty, {-2.1f, 2.1f, nan, inf}, {-2, 0, 2});
        break;
      case 2:
        floats(&SamplingParams::frequencyPenalty, {-2.1f, 2.1f, nan, -inf}, {-2, 0, 2});
        break;
      case 3:
        ints(&SamplingParams::penaltyWindow, {-1}, {0, 1, 2147483647});
        break;
      case 4:
        ints(&SamplingParams::noRepeatNgramSize, {-1}, {0, 1, 2147483647});
        break;
      case 5:
        bad = {biases({{-1, 0}}), biases({{kVocabulary, 0}}), biases({{1, 100.5f}}), biases({{1, nan}}),
               biases({{1, 0}, {2, 0}, {1, 0}})};
        good = {biases({}), biases({{0, -100}, {kVocabulary - 1, 100}})};
        break;
      default:
        ints(&SamplingParams::logprobs, {-2, 21}, {-1, 0, 20});
    }
    for (const SamplingParams& p : bad) {
      const Status status = checkSampling(p, kVocabulary);
      QVERIFY(!status.ok());
      QCOMPARE(QString::fromStdString(status.error().field), field);
      QVERIFY(status.error().message.starts_with(field.toStdString()));
    }
    std::mt19937 random(1);
    for (const SamplingParams& p : good) {
      QVERIFY(checkSampling(p, kVocabulary).ok());
      // What is allowed can be computed, at its edges too.
      const auto logits = randomRow(random);
      QCOMPARE(chooser(p, {1, 2, 1}, {2, 1}).choose(logits),
               referenceChoice(logits, p, Ids{1, 2, 1}, Ids{2, 1}));
    }
  }
};

QTEST_APPLESS_MAIN(TestChooser)
#include "test_chooser.moc"
