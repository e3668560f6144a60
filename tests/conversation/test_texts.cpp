// Titles made of messages, and the JSON in the store's rows.
#include <QTest>
#include <limits>

#include "app/conversation/json.h"
#include "app/conversation/title.h"

using namespace tandem;

class TestTexts : public QObject {
  Q_OBJECT

 private slots:
  void titles_data();
  void titles();
  void settingsThatDiffer();
  void settingsRoundTrip();
  void earlierSettingsAreRead();
  void samplingRoundTrip();
  void statsRoundTrip();
  void malformedJsonKeepsDefaults_data();
  void malformedJsonKeepsDefaults();
};

void TestTexts::titles_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<QByteArray>("title");
  QTest::newRow("short") << QByteArray("Hello there") << QByteArray("Hello there");
  QTest::newRow("first line") << QByteArray("\n\n  Hello\nthere") << QByteArray("Hello");
  QTest::newRow("crlf") << QByteArray("Hello\r\nthere") << QByteArray("Hello");
  QTest::newRow("marks") << QByteArray("## **Big** plan") << QByteArray("Big** plan");
  QTest::newRow("spaces") << QByteArray("a \t b\x01  c ") << QByteArray("a b c");
  QTest::newRow("forty fit") << QByteArray("0123456789012345678901234567890123456789")
                             << QByteArray("0123456789012345678901234567890123456789");
  QTest::newRow("cut at a word") << QByteArray("What is the capital of Australia, and why is it not Sydney?")
                                 << QByteArray("What is the capital of Australia, and…");
  QTest::newRow("cut in a word") << QByteArray("https://example.org/a/very/long/address/without/end")
                                 << QByteArray("https://example.org/a/very/long/address/…");
  QTest::newRow("characters") << QByteArray("日本語").repeated(20)
                              << QByteArray("日本語").repeated(13) + "日…";
  QTest::newRow("markup is text") << QByteArray("x <img src=\"a\"> y") << QByteArray("x <img src=\"a\"> y");
  QTest::newRow("bad bytes") << QByteArray("a\xff\x00z", 4) << QByteArray("a\xEF\xBF\xBD z");
  QTest::newRow("nothing") << QByteArray(" \n\t#\n") << QByteArray("New conversation");
}

void TestTexts::titles() {
  QFETCH(QByteArray, text);
  QFETCH(QByteArray, title);
  QCOMPARE(QByteArray::fromStdString(titleOf({text.data(), static_cast<std::size_t>(text.size())})), title);
}

void TestTexts::settingsThatDiffer() {
  AnswerSettings defaults;
  QCOMPARE(settingsToJson(defaults, defaults), std::string());
  AnswerSettings own = defaults;
  own.sampling.temperature = 0.7f;
  QCOMPARE(settingsToJson(own, defaults), std::string(R"({"temperature":0.7})"));
  // A default that changes later shows through where the conversation said nothing.
  AnswerSettings later = defaults;
  later.maxTokens = 99;
  const AnswerSettings read = settingsFromJson(settingsToJson(own, defaults), later);
  QVERIFY(read.maxTokens == 99 && read.sampling.temperature == 0.7f);
}

void TestTexts::settingsRoundTrip() {
  AnswerSettings defaults;
  defaults.seedGiven = true;
  defaults.sampling.seed = 5;
  AnswerSettings own;
  own.sampling = {1.25f, 40, 0.95f, 0.05f, std::numeric_limits<std::uint64_t>::max()};
  own.seedGiven = true;
  own.sampling.choice = 3;
  own.sampling.repetitionPenalty = 1.1f;
  own.sampling.presencePenalty = -0.5f;
  own.sampling.frequencyPenalty = 0.25f;
  own.sampling.penaltyWindow = 64;
  own.sampling.noRepeatNgramSize = 4;
  own.sampling.logitBias = {{12, -100}, {7, 0.3f}};
  own.minTokens = 2;
  own.reasoning = {.budget = 50, .stallClose = true};
  own.stop = {"\n\n", "\xff"};
  own.stopTokens = {9, 8};
  own.maxTokens = 7;
  own.speculation = SpeculationOptions::tree(TokenOrigin::kWrong, 31);
  own.regenerateSamples = false;
  const AnswerSettings read = settingsFromJson(settingsToJson(own, defaults), defaults);
  QVERIFY(read.sampling.temperature == 1.25f && read.sampling.topK == 40 && read.sampling.topP == 0.95f);
  QVERIFY(read.sampling.minP == 0.05f && read.sampling.seed == own.sampling.seed && read.seedGiven);
  QVERIFY(read.maxTokens == 7 && !read.speculation.automatic);
  QVERIFY(read.speculation.drafters == std::vector{TokenOrigin::kWrong});
  QVERIFY(read.speculation.shape == own.speculation.shape);
  QVERIFY(!read.regenerateSamples);
  QVERIFY(read.sampling.choice == 3 && read.sampling.repetitionPenalty == 1.1f);
  QVERIFY(read.sampling.presencePenalty == -0.5f && read.sampling.frequencyPenalty == 0.25f);
  QVERIFY(read.sampling.penaltyWindow == 64 && read.sampling.noRepeatNgramSize == 4);
  QVERIFY(std::ranges::is_permutation(read.sampling.logitBias, own.sampling.logitBias));
  QVERIFY(read.reasoning == own.reasoning);
  QVERIFY(read.minTokens == 2 && read.stopTokens == own.stopTokens);
  QVERIFY((read.stop == std::vector<std::string>{"\n\n", "\xEF\xBF\xBD"}));
  QCOMPARE(extraToJson(SamplingParams(), AnswerSettings(), ""), std::string());
  QCOMPARE(
      extraToJson(own.sampling, own, ""),
      std::string(
          R"({"options":{"choice":3,"frequency_penalty":0.25,"logit_bias":2,"min_tokens":2,)"
          R"("no_repeat_ngram_size":4,"penalty_window":64,"presence_penalty":-0.5,"reasoning_budget":50,)"
          R"("repetition_penalty":1.1,"stall_close":true,"stop":2,"stop_token_ids":2}})"));
  QCOMPARE(extraToJson(SamplingParams(), AnswerSettings(), "", {.tokens = 7, .end = ReasoningEnd::kStall}),
           std::string(R"({"reasoning":{"closed":"stall","tokens":7}})"));
  QCOMPARE(extraToJson(SamplingParams(), AnswerSettings(), "", {.tokens = 7, .end = ReasoningEnd::kOwn}),
           std::string());
  own.seedGiven = false;
  QVERIFY(!settingsFromJson(settingsToJson(own, defaults), defaults).seedGiven);
}

// What version 0.1.0 stored: the drafter's name, and a width.
void TestTexts::earlierSettingsAreRead() {
  const auto read = [](const char* json) { return settingsFromJson(json, AnswerSettings()).speculation; };
  QVERIFY(!read(R"({"drafter":"off"})").enabled());
  QVERIFY(read(R"({"drafter":"wrong"})").drafters == std::vector{TokenOrigin::kWrong});
  QVERIFY(read(R"({"drafter":"own-text"})").drafters == std::vector{TokenOrigin::kOwnText});
  QVERIFY((read(R"({"draft_width":15})").shape == DraftShape{DraftShape::Kind::kChain, 15}));
  QVERIFY(read(R"({"draft_width":99})").shape == DraftShape());
}

void TestTexts::samplingRoundTrip() {
  const SamplingParams params{0.7f, 20, 0.95f, 0.0f, 18446744073709551615u};
  const std::string json = samplingToJson(params, "regenerate");
  const SamplingParams read = samplingFromJson(json);
  QVERIFY(read.temperature == 0.7f && read.topK == 20 && read.topP == 0.95f && read.seed == params.seed);
  QCOMPARE(samplingKindFromJson(json), std::string("regenerate"));
  QCOMPARE(samplingKindFromJson(samplingToJson(params, "")), std::string());
}

void TestTexts::statsRoundTrip() {
  GenerationStats stats;
  stats.promptTokens = 1;
  stats.cachedTokens = 2;
  stats.completionTokens = 6;
  stats.queueMs = 0.5;
  stats.prefillMs = 1.5;
  stats.ttftMs = 2.5;
  stats.decodeMs = 3.5;
  stats.totalMs = 4.5;
  stats.rounds = 3;
  stats.drafted = 4;
  stats.accepted = 5;
  stats.acceptedBy[0] = 1;
  stats.acceptedBy[1] = 5;
  stats.draftedBy[8] = 4;
  stats.finish = FinishReason::kCancelled;
  stats.seed = 18446744073709551615u;
  stats.logitsFingerprint = 0xFEDCBA9876543210u;
  const auto read = statsFromJson(statsToJson(stats));
  QVERIFY(read.has_value());
  QVERIFY(read->promptTokens == 1 && read->cachedTokens == 2 && read->completionTokens == 6 &&
          read->rounds == 3);
  QVERIFY(read->queueMs == 0.5 && read->prefillMs == 1.5 && read->ttftMs == 2.5 && read->decodeMs == 3.5);
  QVERIFY(read->totalMs == 4.5 && read->drafted == 4 && read->accepted == 5);
  QVERIFY(read->acceptedBy[0] == 1 && read->acceptedBy[1] == 5 && read->acceptedBy[2] == 0);
  QVERIFY(read->draftedBy[8] == 4 && read->draftedBy[1] == 0);
  QVERIFY(read->finish == FinishReason::kCancelled && read->seed == stats.seed);
  QCOMPARE(read->logitsFingerprint, stats.logitsFingerprint);
  QCOMPARE(acceptedByToJson(stats), std::string(R"({"own-text":5,"plain":1})"));
  QVERIFY(!statsFromJson("").has_value());
}

void TestTexts::malformedJsonKeepsDefaults_data() {
  QTest::addColumn<QByteArray>("json");
  QTest::newRow("empty") << QByteArray();
  QTest::newRow("cut") << QByteArray(R"({"temperature":0.)");
  QTest::newRow("array") << QByteArray("[1,2]");
  QTest::newRow("wrong kinds") << QByteArray(
      R"({"temperature":"hot","top_k":1.5,"seed":"x","max_tokens":1e30,"drafter":7,"stop":"x","logit_bias":[1],"stop_token_ids":{},"regenerate_samples":1})");
  QTest::newRow("unknown names") << QByteArray(
      R"({"drafter":"own-text,magic","draft_shape":"star7","colour":"red"})");
  QTest::newRow("bytes") << QByteArray("{\"temperature\":\xff}");
}

void TestTexts::malformedJsonKeepsDefaults() {
  QFETCH(QByteArray, json);
  AnswerSettings defaults;
  defaults.maxTokens = 5;
  defaults.sampling.topK = 3;
  const AnswerSettings read = settingsFromJson(json.toStdString(), defaults);
  QVERIFY(read.maxTokens == 5 && read.sampling.topK == 3 && read.sampling.temperature == 0 &&
          !read.seedGiven);
  QVERIFY(read.stop.empty() && read.stopTokens.empty() && read.sampling.logitBias.empty());
  QVERIFY(read.regenerateSamples && read.speculation.automatic && read.speculation.shape == DraftShape());
}

QTEST_GUILESS_MAIN(TestTexts)
#include "test_texts.moc"
