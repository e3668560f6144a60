// The end of an answer, wherever it falls in an accepted block: an end token, a stop string, the token limit
// and a cancel, each declared at every position, give exactly what plain decoding gives.
#include <QTemporaryDir>
#include <QtTest>
#include <atomic>

#include "engine/gguf/encoded_value.h"
#include "engine/session/answer_text.h"
#include "tests/gguf/model_copy.h"
#include "tests/gguf/tiny_models.h"
#include "tests/service/text_model.h"
#include "tests/session/engine_of.h"

using namespace tandem;
using namespace tandem::test;

namespace {

constexpr int kTokens = 48;

Engine open(const std::string& path) {
  return openEngine(path, 1);
}

// All that a run leaves behind and that must not depend on drafts.
struct Left {
  std::vector<TokenId> tokens;
  std::string text;
  int textBytes = 0;  // that tokens account for
  GenerationStats stats;
  Sequence cache;
};

Left run(Engine& engine, const Generation& request, int cancelAfter = -1) {
  std::atomic<bool> cancel{false};
  int chosen = 0;
  Left left{{}, {}, 0, {}, engine.decoder->newSequence()};
  const auto outcome = engine.generator->run(
      request,
      {.piece =
           [&](TextPiece piece) {
             left.text += piece.text;
             for (const PieceToken& token : piece.tokens)
               left.textBytes += static_cast<int>(token.textBytes);
           },
       .chosen = [&](TokenId, std::span<const float>) { cancel = ++chosen == cancelAfter; }},
      &cancel);
  if (!outcome.status.ok()) qFatal("%s", outcome.status.error().describe().c_str());
  left.tokens = outcome.tokens;
  left.stats = outcome.stats;
  left.cache = engine.generator->sequence();
  return left;
}

void compare(const Left& drafted, const Left& plain) {
  QCOMPARE(drafted.tokens, plain.tokens);
  QCOMPARE(drafted.text, plain.text);
  QCOMPARE(drafted.textBytes, plain.textBytes);
  QVERIFY(drafted.stats.finish == plain.stats.finish);
  QCOMPARE(drafted.stats.completionTokens, plain.stats.completionTokens);
  QCOMPARE(drafted.stats.promptTokens, plain.stats.promptTokens);
  QCOMPARE(drafted.stats.logitsFingerprint, plain.stats.logitsFingerprint);
  QVERIFY(drafted.cache.sameBytes(plain.cache));
}

// Drafters whose blocks are long, so that every position lies within one.
std::vector<SpeculationOptions> blocks(const std::vector<TokenId>& reference) {
  std::vector<SpeculationOptions> all = {SpeculationOptions::chain(TokenOrigin::kOracle, 15),
                                         SpeculationOptions::tree(TokenOrigin::kOracle, 31),
                                         SpeculationOptions::tree(TokenOrigin::kHalfRight, 15),
                                         SpeculationOptions::chain(TokenOrigin::kOwnText, 7)};
  for (SpeculationOptions& options : all)
    options.reference = reference;
  return all;
}

}  // namespace

class TestStops : public QObject {
  Q_OBJECT

  QTemporaryDir dir_;
  std::string model_;

  // A prompt in text, as the model continues with text of its own alphabet.
  static Generation request(const SpeculationOptions& speculation, int tokens = kTokens) {
    Generation r;
    for (int i = 0; i < 24; ++i)
      r.prompt.push_back(40 + (i % 6) * 3);
    r.maxTokens = tokens;
    r.speculation = speculation;
    r.endAtEndTokens = false;
    return r;
  }
  Generation plainRequest() const { return request(SpeculationOptions::off()); }

 private slots:
  void initTestCase() {
    model_ = (dir_.path() + "/text.gguf").toStdString();
    QVERIFY(writeTextModel(std::string(TANDEM_TEST_DATA) + "/tiny-models/llama.json", model_).ok());
  }

  void theTokenLimitAtEveryPosition() {
    Engine engine = open(model_);
    const Left whole = run(engine, plainRequest());
    QCOMPARE(int(whole.tokens.size()), kTokens);
    for (int limit = 1; limit <= kTokens; ++limit) {
      const Left plain = run(engine, request(SpeculationOptions::off(), limit));
      for (const SpeculationOptions& options : blocks(whole.tokens)) {
        compare(run(engine, request(options, limit)), plain);
        if (QTest::currentTestFailed()) return;
      }
    }
  }

  void aCancelAtEveryPosition() {
    Engine engine = open(model_);
    const Left whole = run(engine, plainRequest());
    for (int after = 1; after < kTokens; ++after) {
      const Left plain = run(engine, plainRequest(), after);
      QCOMPARE(int(plain.tokens.size()), after);
      QVERIFY(plain.stats.finish == FinishReason::kCancelled);
      for (const SpeculationOptions& options : blocks(whole.tokens)) {
        compare(run(engine, request(options), after), plain);
        if (QTest::currentTestFailed()) return;
      }
    }
  }

  // Run, then declare a token that was produced the end: wherever in a block it stands first.
  void anEndTokenAtEveryPosition() {
    Engine original = open(model_);
    const Left whole = run(original, plainRequest());
    std::vector<TokenId> seen;
    for (const TokenId end : whole.tokens) {
      if (std::find(seen.begin(), seen.end(), end) != seen.end()) continue;
      seen.push_back(end);
      auto copy = ModelCopy::of(model_);
      QVERIFY(copy.ok());
      copy->setValue("tokenizer.ggml.eos_token_id", gguf::encode(static_cast<std::uint32_t>(end)));
      const std::string path = (dir_.path() + "/ends.gguf").toStdString();
      QVERIFY(copy->write(path).ok());
      Engine engine = open(path);
      Generation r = plainRequest();
      r.endAtEndTokens = true;
      const Left plain = run(engine, r);
      QVERIFY(plain.stats.finish == FinishReason::kEndToken && plain.tokens.back() == end);
      for (const SpeculationOptions& options : blocks(whole.tokens)) {
        r.speculation = options;
        compare(run(engine, r), plain);
        if (QTest::currentTestFailed()) return;
      }
    }
    QVERIFY(seen.size() >= 3);
  }

  // Every part of the text of one to four bytes as a stop string.
  void aStopStringAtEveryPosition() {
    Engine engine = open(model_);
    const Left whole = run(engine, plainRequest());
    QVERIFY(whole.text.size() >= 20);
    for (std::size_t at = 0; at < whole.text.size(); ++at) {
      for (const std::size_t size : {1, 2, 4}) {
        const std::string stop = whole.text.substr(at, size);
        Generation r = plainRequest();
        r.stop = {stop, "never \x01"};
        const Left plain = run(engine, r);
        QVERIFY(plain.stats.finish == FinishReason::kStopString);
        QCOMPARE(plain.text, whole.text.substr(0, whole.text.find(stop)));
        for (const SpeculationOptions& options : blocks(whole.tokens)) {
          r.speculation = options;
          compare(run(engine, r), plain);
          if (QTest::currentTestFailed()) return;
        }
      }
    }
  }

  // A stop string that never comes changes nothing but when text appears.
  void aStopStringThatNeverComes() {
    Engine engine = open(model_);
    const Left whole = run(engine, plainRequest());
    for (std::size_t at = 0; at < whole.text.size(); ++at) {
      Generation r = plainRequest();
      r.stop = {whole.text.substr(at, 3) + "\x01"};  // held back, then let go
      const Left plain = run(engine, r);
      QCOMPARE(plain.text, whole.text);
      QCOMPARE(plain.tokens, whole.tokens);
      r.speculation = blocks(whole.tokens)[0];
      compare(run(engine, r), plain);
      if (QTest::currentTestFailed()) return;
    }
  }

  // Stopped by length in the middle of a stop string, the answer goes on and stops where it would have.
  void aStopStringAcrossContinue() {
    Engine engine = open(model_);
    const Left whole = run(engine, plainRequest());
    const std::string stop = whole.text.substr(whole.text.size() / 2, 3);
    Generation r = plainRequest();
    r.stop = {stop};
    const Left stopped = run(engine, r);
    for (int cut = 1; cut < int(stopped.tokens.size()); ++cut) {
      Generation first = r;
      first.maxTokens = cut;
      const Left begun = run(engine, first);
      Generation second = r;
      second.answerSoFar = begun.tokens;
      second.maxTokens = kTokens - cut;
      const Left rest = run(engine, second);
      QVERIFY(rest.stats.finish == FinishReason::kStopString);
      QCOMPARE(begun.tokens.size() + rest.tokens.size(), stopped.tokens.size());
      // What was shown when the first part ended is not taken back.
      QVERIFY((begun.text + rest.text).starts_with(stopped.text));
      QVERIFY((begun.text + rest.text).size() < stopped.text.size() + stop.size());
    }
  }

  void anEmptyStopStringIsRefused() {
    Engine engine = open(model_);
    Generation r = plainRequest();
    r.stop = {"x", ""};
    const auto outcome = engine.generator->run(r, {});
    QVERIFY(!outcome.status.ok() && outcome.status.error().field == "stop");
  }
};

QTEST_APPLESS_MAIN(TestStops)
#include "test_stops.moc"
