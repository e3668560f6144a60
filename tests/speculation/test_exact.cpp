// Every drafter in every shape writes what plain decoding writes: the same tokens, the same bits of logits,
// the same bytes in the cache. On tiny models of several architectures, and on a real one.
#include <QTemporaryDir>
#include <QtTest>

#include "engine/speculation/options.h"
#include "tests/gguf/tiny_models.h"
#include "tests/session/engine_of.h"

using namespace tandem;
using namespace tandem::test;

namespace {

constexpr TokenOrigin kAll[] = {TokenOrigin::kOwnText,   TokenOrigin::kStore, TokenOrigin::kDraftModel,
                                TokenOrigin::kHalfRight, TokenOrigin::kWrong, TokenOrigin::kOracle,
                                TokenOrigin::kRandom};
constexpr DraftShape kShapes[] = {{DraftShape::Kind::kChain, 7},
                                  {DraftShape::Kind::kChain, 15},
                                  {DraftShape::Kind::kTree, 15},
                                  {DraftShape::Kind::kTree, 31},
                                  {DraftShape::Kind::kAuto, 31}};

// The model, with itself as its draft model: then every guess of that one is right.
Engine open(const std::string& path, const std::string& draftPath) {
  Engine engine = openEngine(path, 2);
  auto draft = DraftModel::load(draftPath, engine.decoder->model(), {.threads = 2});
  if (!draft.ok()) qFatal("%s", draft.error().describe().c_str());
  engine.generator->speculation().draftModel = std::move(*draft);
  return engine;
}

struct Plain {
  GenerationOutcome outcome;
  Sequence cache;
};

Plain runPlain(Engine& engine, Generation request) {
  request.speculation = SpeculationOptions::off();
  GenerationOutcome outcome = engine.generator->run(request, {});
  return {std::move(outcome), engine.generator->sequence()};
}

// Runs the request under the options and compares with plain; returns the run's figures.
GenerationStats compare(Engine& engine, Generation request, const Plain& plain) {
  int drafted = 0, nodes = 0, rounds = 0;
  const auto outcome = engine.generator->run(request, {.round =
                                                           [&](const RoundReport& report) {
                                                             drafted += report.drafted;
                                                             ++rounds;
                                                           },
                                                       .verified =
                                                           [&](const VerifiedRound& round) {
                                                             nodes += round.draft.size();
                                                             if (!wellFormed(round.draft))
                                                               qFatal("a malformed draft");
                                                           }});
  const std::string what =
      drafterNames(request.speculation) + " " + draftShapeName(request.speculation.shape);
  const auto check = [&](bool holds, const char* sentence) {
    if (!holds) QFAIL((what + ": " + sentence).c_str());
  };
  check(outcome.status.ok(), "failed");
  check(outcome.tokens == plain.outcome.tokens, "other tokens");
  check(outcome.stats.logitsFingerprint == plain.outcome.stats.logitsFingerprint, "other logits");
  check(outcome.stats.finish == plain.outcome.stats.finish, "another end");
  check(engine.generator->sequence().sameBytes(plain.cache), "another cache");
  const GenerationStats& s = outcome.stats;
  int draftedBy = 0, acceptedBy = 0;
  for (int i = 0; i < kTokenOriginCount; ++i) {
    draftedBy += s.draftedBy[i];
    acceptedBy += s.acceptedBy[i];
  }
  check(s.drafted == drafted && s.drafted == nodes && s.drafted == draftedBy && s.rounds == rounds,
        "drafted counts differ");
  check(acceptedBy == s.completionTokens, "origins do not sum to the tokens");
  check(acceptedBy - s.acceptedBy[0] == s.accepted, "accepted counts differ");
  return s;
}

}  // namespace

class TestExact : public QObject {
  Q_OBJECT

  QTemporaryDir dir_;
  std::string path(const char* name) const { return (dir_.path() + "/" + name + ".gguf").toStdString(); }

  static Generation request(int tokens, float temperature = 0) {
    Generation r;
    for (int i = 0; i < 40; ++i)
      r.prompt.push_back((i % 8) * 3 + 1);
    r.maxTokens = tokens;
    r.endAtEndTokens = false;
    r.sampling.temperature = temperature;
    r.sampling.seed = 5;
    return r;
  }

  // All drafters and shapes of one model; what each drafter had accepted and rejected in total.
  void compareAll(Engine& engine, const Generation& asked) {
    const Plain plain = runPlain(engine, asked);
    QVERIFY(plain.outcome.status.ok());
    // Earlier texts that are right in part.
    auto store = std::make_shared<MemoryTextStore>();
    std::vector<TokenId> text = plain.outcome.tokens;
    for (std::size_t i = 11; i < text.size(); i += 12)
      text[i] = (text[i] + 1) % engine.decoder->model().config().vocabulary;
    store->add(text);
    engine.generator->speculation().store = store;
    std::vector<TokenOrigin> drafters(std::begin(kAll), std::end(kAll));
    if (engine.decoder->model().weights().nextn) drafters.push_back(TokenOrigin::kMtp);
    for (const TokenOrigin drafter : drafters) {
      int accepted = 0, rejected = 0;
      for (const DraftShape& shape : kShapes) {
        Generation r = asked;
        r.speculation = SpeculationOptions::of({drafter}, shape);
        r.speculation.reference = plain.outcome.tokens;
        r.speculation.seed = 77;
        const GenerationStats stats = compare(engine, r, plain);
        if (QTest::currentTestFailed()) return;
        accepted += stats.accepted;
        rejected += stats.rejected();
      }
      qInfo("%-10s accepted %d, rejected %d", tokenOriginName(drafter), accepted, rejected);
      // What lookup finds depends on the model; the others know enough of the text to be right in part.
      if (drafter == TokenOrigin::kWrong) QVERIFY(rejected > 10 * accepted);
      if (drafter == TokenOrigin::kMtp) QVERIFY(rejected > 0);  // the block's weights are random
      if (drafter == TokenOrigin::kStore || drafter == TokenOrigin::kHalfRight ||
          drafter == TokenOrigin::kOracle || drafter == TokenOrigin::kRandom) {
        QVERIFY(accepted > 0 && rejected > 0);
      }
    }
    Generation all = asked;
    all.speculation.reference = plain.outcome.tokens;
    for (const DraftShape& shape : kShapes) {
      all.speculation = SpeculationOptions::of(
          {TokenOrigin::kOwnText, TokenOrigin::kStore, TokenOrigin::kDraftModel, TokenOrigin::kRandom},
          shape);
      compare(engine, all, plain);
      if (QTest::currentTestFailed()) return;
    }
    all.speculation = {};
    compare(engine, all, plain);
  }

 private slots:
  void tinyModels_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<float>("temperature");
    for (const char* name : {"llama", "gemma3", "qwen35-nextn"}) {
      QTest::addRow("%s greedy", name) << QString(name) << 0.0f;
      QTest::addRow("%s sampled", name) << QString(name) << 0.8f;
    }
  }
  void tinyModels() {
    QFETCH(QString, name);
    QFETCH(float, temperature);
    const std::string file = path(name.toUtf8().constData());
    QVERIFY(
        writeTinyModel(std::string(TANDEM_TEST_DATA) + "/tiny-models/" + name.toStdString() + ".json", file)
            .ok());
    Engine engine = open(file, file);
    compareAll(engine, request(72, temperature));
  }

  void smolLm2() {
    const QByteArray models = qgetenv("TANDEM_MODELS");
    QVERIFY2(!models.isEmpty(), "TANDEM_MODELS must name the folder with the real models");
    const std::string file = models.toStdString() + "/SmolLM2-135M-Instruct.Q4_1.gguf";
    Engine engine = open(file, file);
    const auto prompt = engine.decoder->model().tokenizer().encode(
        "one two three four one two three four one two three four one two");
    QVERIFY(prompt.ok());
    Generation r;
    r.prompt = *prompt;
    r.maxTokens = 24;
    r.endAtEndTokens = false;
    const Plain plain = runPlain(engine, r);
    for (const TokenOrigin drafter : kAll) {
      for (const DraftShape& shape : {kShapes[1], kShapes[3]}) {
        r.speculation = SpeculationOptions::of({drafter}, shape);
        r.speculation.reference = plain.outcome.tokens;
        compare(engine, r, plain);
        if (QTest::currentTestFailed()) return;
      }
    }
    r.speculation = {};
    compare(engine, r, plain);
  }

  // A drafter that is asked for and is not there: a sentence, and the plain text.
  void missingDraftersAreTold() {
    const std::string file = path("missing");
    QVERIFY(writeTinyModel(std::string(TANDEM_TEST_DATA) + "/tiny-models/llama.json", file).ok());
    Engine engine = open(file, file);
    engine.generator->speculation().draftModel.reset();
    Generation r = request(20);
    const Plain plain = runPlain(engine, r);
    for (const TokenOrigin drafter : {TokenOrigin::kStore, TokenOrigin::kDraftModel, TokenOrigin::kMtp}) {
      r.speculation = SpeculationOptions::chain(drafter, 7);
      std::vector<std::string> warnings;
      const auto outcome =
          engine.generator->run(r, {.warning = [&](std::string sentence) { warnings.push_back(sentence); }});
      QCOMPARE(outcome.tokens, plain.outcome.tokens);
      QCOMPARE(warnings.size(), std::size_t(1));
    }
  }

  // The one setting that breaks the promise says so, and does.
  void relaxedAcceptWarnsAndChangesTheText() {
    const std::string file = path("relaxed");
    QVERIFY(writeTinyModel(std::string(TANDEM_TEST_DATA) + "/tiny-models/llama.json", file).ok());
    Engine engine = open(file, file);
    Generation r = request(60);
    const Plain plain = runPlain(engine, r);
    r.speculation = SpeculationOptions::tree(TokenOrigin::kRandom, 31);
    r.speculation.relaxTau = 1.0f;
    int warnings = 0;
    const auto outcome = engine.generator->run(r, {.warning = [&](std::string) { ++warnings; }});
    QCOMPARE(warnings, 1);
    QVERIFY(outcome.tokens != plain.outcome.tokens);
    r.speculation.relaxTau = 0;
    QCOMPARE(engine.generator->run(r, {}).tokens, plain.outcome.tokens);
  }
};

QTEST_APPLESS_MAIN(TestExact)
#include "test_exact.moc"
