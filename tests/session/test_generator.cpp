// The loop on tiny models: ends, limits, cancelling and going on leave the bytes that plain decoding leaves.
#include <QTemporaryDir>
#include <QtTest>
#include <atomic>

#include "engine/gguf/encoded_value.h"
#include "tests/gguf/model_copy.h"
#include "tests/gguf/tiny_models.h"
#include "tests/session/engine_of.h"

using namespace tandem;
using namespace tandem::test;

class TestGenerator : public QObject {
  Q_OBJECT

  QTemporaryDir dir_;
  std::string path(const char* name) const { return (dir_.path() + "/" + name + ".gguf").toStdString(); }

  Engine open(const char* name, int threads = 1) { return openEngine(path(name), threads); }
  static SpeculationOptions off() { return SpeculationOptions::off(); }
  static SpeculationOptions ownText(int nodes = 7) {
    return SpeculationOptions::chain(TokenOrigin::kOwnText, nodes);
  }
  static SpeculationOptions wrong(int nodes = 7) {
    return SpeculationOptions::chain(TokenOrigin::kWrong, nodes);
  }
  static Generation request(int maxTokens, const SpeculationOptions& speculation, float temperature = 0) {
    Generation r;
    // A repetition, so that the own-text drafter has something to go on.
    for (int i = 0; i < 40; ++i)
      r.prompt.push_back((i % 8) * 3 + 1);
    r.maxTokens = maxTokens;
    r.speculation = speculation;
    r.sampling.temperature = temperature;
    r.sampling.seed = 42;
    r.endAtEndTokens = false;
    return r;
  }

 private slots:
  void initTestCase() {
    for (const char* name : {"llama", "gemma3"}) {
      QVERIFY(
          writeTinyModel(std::string(TANDEM_TEST_DATA) + "/tiny-models/" + name + ".json", path(name)).ok());
    }
  }

  void everyWidthAndDrafterWritesThePlainText_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<float>("temperature");
    for (const char* name : {"llama", "gemma3"}) {
      QTest::addRow("%s greedy", name) << QString(name) << 0.0f;
      QTest::addRow("%s sampled", name) << QString(name) << 0.8f;
    }
  }
  void everyWidthAndDrafterWritesThePlainText() {
    QFETCH(QString, name);
    QFETCH(float, temperature);
    Engine engine = open(name.toUtf8().constData(), 2);
    const auto plain = engine.generator->run(request(120, off(), temperature), {});
    QVERIFY(plain.status.ok());
    const Sequence cache = engine.generator->sequence();
    QCOMPARE(int(plain.tokens.size()), 120);
    for (const TokenOrigin drafter : {TokenOrigin::kOwnText, TokenOrigin::kWrong}) {
      for (const int width : {1, 2, 3, 7, 15, 31}) {
        const auto outcome =
            engine.generator->run(request(120, SpeculationOptions::chain(drafter, width), temperature), {});
        QCOMPARE(outcome.tokens, plain.tokens);
        QCOMPARE(outcome.stats.logitsFingerprint, plain.stats.logitsFingerprint);
        QVERIFY(engine.generator->sequence().sameBytes(cache));
      }
    }
  }

  // The trick: run, then declare a token that was produced the end. Speculation must stop at its first
  // occurrence, wherever in an accepted block it stands.
  void anEndTokenInsideABlockEndsTheAnswer() {
    const auto plain = open("llama").generator->run(request(60, off()), {});
    std::vector<TokenId> distinct;
    for (const TokenId token : plain.tokens) {
      if (std::find(distinct.begin(), distinct.end(), token) == distinct.end()) distinct.push_back(token);
    }
    for (const TokenId end : distinct) {
      auto copy = ModelCopy::of(path("llama"));
      QVERIFY(copy.ok());
      copy->setValue("tokenizer.ggml.eos_token_id", gguf::encode(static_cast<std::uint32_t>(end)));
      QVERIFY(copy->write(path("ends")).ok());
      Engine engine = open("ends");
      const auto first = std::find(plain.tokens.begin(), plain.tokens.end(), end) - plain.tokens.begin();
      std::optional<Sequence> cache;
      for (const SpeculationOptions& speculation : {off(), ownText(15), wrong(15)}) {
        Generation r = request(60, speculation);
        r.endAtEndTokens = true;
        const auto outcome = engine.generator->run(r, {});
        QVERIFY(outcome.stats.finish == FinishReason::kEndToken);
        QCOMPARE(outcome.tokens,
                 std::vector<TokenId>(plain.tokens.begin(), plain.tokens.begin() + first + 1));
        if (!cache) cache = engine.generator->sequence();
        QVERIFY(engine.generator->sequence().sameBytes(*cache));
      }
    }
  }

  void everyLimitIsKept() {
    Engine engine = open("llama");
    const auto plain = engine.generator->run(request(40, off()), {});
    for (int limit = 1; limit <= 20; ++limit) {
      for (const SpeculationOptions& speculation : {off(), ownText(15), wrong(15)}) {
        const auto outcome = engine.generator->run(request(limit, speculation), {});
        QCOMPARE(outcome.tokens, std::vector<TokenId>(plain.tokens.begin(), plain.tokens.begin() + limit));
        QVERIFY(outcome.stats.finish == FinishReason::kLength);
        QCOMPARE(engine.generator->sequence().length(), 40 + limit - 1);
      }
    }
  }

  void aFullContextEndsWithLengthAndRefusesLongerPrompts() {
    Engine engine = open("llama");
    for (const int length : {126, 127}) {
      Generation r = request(0, ownText(31));
      r.contextLength = 128;
      r.prompt.resize(length, 3);
      const auto outcome = engine.generator->run(r, {});
      QVERIFY(outcome.status.ok());
      QCOMPARE(int(outcome.tokens.size()), 128 - length);
      QVERIFY(outcome.stats.finish == FinishReason::kLength);
    }
    for (const int length : {128, 129, 10000}) {
      Generation r = request(0, ownText());
      r.contextLength = 128;
      r.prompt.resize(length, 3);
      const auto outcome = engine.generator->run(r, {});
      QVERIFY(!outcome.status.ok());
      QVERIFY(outcome.status.error().code == ErrorCode::kContextLengthExceeded);
      const QString sentence = QString::fromStdString(outcome.status.error().message);
      QVERIFY(sentence.contains("128") && sentence.contains(QString::number(length - 127)));
    }
  }

  void badTokensAndParametersAreRefused() {
    Engine engine = open("llama");
    for (const TokenId bad : {-1, 128, 2147483647}) {
      Generation r = request(4, off());
      r.prompt[7] = bad;
      QVERIFY(engine.generator->run(r, {}).status.error().code == ErrorCode::kInvalidArgument);
    }
    Generation empty = request(4, off());
    empty.prompt.clear();
    QVERIFY(!engine.generator->run(empty, {}).status.ok());
    QVERIFY(!engine.generator->run(request(4, ownText(0)), {}).status.ok());
    QVERIFY(!engine.generator->run(request(4, ownText(32)), {}).status.ok());
    QVERIFY(!engine.generator->run(request(4, off(), -1), {}).status.ok());
  }

  // Stopped anywhere and continued from its ids, an answer equals the one that was never stopped; sampled
  // too.
  void stopAndContinueEqualTheUninterruptedText() {
    Engine engine = open("llama");
    for (const float temperature : {0.0f, 0.9f}) {
      const auto whole = engine.generator->run(request(50, off(), temperature), {});
      for (const int stop : {1, 2, 17, 49}) {
        Generation first = request(stop, ownText(), temperature);
        auto tokens = engine.generator->run(first, {}).tokens;
        Generation second = request(50 - stop, ownText(), temperature);
        second.answerSoFar = tokens;
        const auto rest = engine.generator->run(second, {}).tokens;
        tokens.insert(tokens.end(), rest.begin(), rest.end());
        QCOMPARE(tokens, whole.tokens);
      }
    }
  }

  void cancelStopsBetweenRounds() {
    Engine engine = open("llama");
    std::atomic<bool> cancel{false};
    int pieces = 0;
    const auto outcome = engine.generator->run(
        request(100, off()), {.piece = [&](TextPiece) { cancel = ++pieces == 5; }}, &cancel);
    QVERIFY(outcome.status.ok());
    QVERIFY(outcome.stats.finish == FinishReason::kCancelled);
    QCOMPARE(int(outcome.tokens.size()), 5);
    cancel = true;
    const auto none = engine.generator->run(request(100, off()), {}, &cancel);
    QVERIFY(none.stats.finish == FinishReason::kCancelled);
    QVERIFY(none.tokens.empty());
    QCOMPARE(engine.generator->sequence().length(), 0);
  }

  // Past the window, with rejected drafts at every place of the page: the cache equals one that never
  // drafted.
  void rejectedDraftsLeaveNoTracePastTheWindow() {
    Engine engine = open("gemma3");
    const auto plain = engine.generator->run(request(150, off()), {});
    const Sequence cache = engine.generator->sequence();
    QVERIFY(cache.length() > 3 * 32);
    for (int width = 1; width <= 31; ++width) {
      const auto outcome = engine.generator->run(request(150, wrong(width)), {});
      QCOMPARE(outcome.tokens, plain.tokens);
      QVERIFY(engine.generator->sequence().sameBytes(cache));
    }
  }
};

QTEST_APPLESS_MAIN(TestGenerator)
#include "test_generator.moc"
