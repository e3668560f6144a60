// Requests that run together: each writes the text that it writes alone, drafts what it drafts alone, and
// ends alone; none waits long for the others.
#include <QTemporaryDir>
#include <QtTest>
#include <limits>

#include "engine/session/slots.h"
#include "engine/speculation/drafters/on_purpose.h"
#include "tests/gguf/model_copy.h"
#include "tests/gguf/tiny_models.h"
#include "tests/session/engine_of.h"

using namespace tandem;
using namespace tandem::test;

namespace {

using Drafts = std::vector<std::vector<DraftNode>>;  // by round

struct Written {
  GenerationOutcome outcome;
  Drafts drafts;
};

// Callbacks that keep the drafts.
GenerationCallbacks keeping(Drafts& drafts) {
  return {.verified = [&drafts](const VerifiedRound& round) { drafts.push_back(round.draft.nodes); }};
}

// Tokens that repeat themselves, so that lookup finds something.
std::vector<TokenId> promptOf(int seed, int length) {
  std::vector<TokenId> tokens;
  TestRandom random(static_cast<std::uint64_t>(seed));
  for (int i = 0; i < length; ++i)
    tokens.push_back(i >= 12 && i % 3 ? tokens[i - 9] : 3 + random.below(120));
  return tokens;
}

Generation requestOf(int seed, int length, SpeculationOptions speculation, float temperature = 0) {
  Generation request;
  request.prompt = promptOf(seed, length);
  request.maxTokens = 24 + seed % 3;
  request.endAtEndTokens = false;
  request.speculation = std::move(speculation);
  request.speculation.seed = static_cast<std::uint64_t>(seed);
  request.sampling.temperature = temperature;
  request.sampling.seed = static_cast<std::uint64_t>(seed);
  return request;
}

bool sameText(const GenerationOutcome& a, const GenerationOutcome& b) {
  return a.tokens == b.tokens && a.stats.logitsFingerprint == b.stats.logitsFingerprint &&
         a.stats.finish == b.stats.finish && a.status.ok() == b.status.ok();
}

// The most chunks ('c') between two rounds ('r') of a request.
int longestWait(const std::string& log) {
  int longest = 0, now = 0;
  for (std::size_t i = log.find('r'); i < log.rfind('r'); ++i) {
    now = log[i] == 'c' ? now + 1 : 0;
    longest = std::max(longest, now);
  }
  return longest;
}

}  // namespace

class TestSlots : public QObject {
  Q_OBJECT

  std::string path(const char* name) const { return (dir_.path() + "/" + name + ".gguf").toStdString(); }
  QTemporaryDir dir_;

  static Written alone(Engine& engine, const Generation& request) {
    Written written;
    written.outcome = engine.generator->run(request, keeping(written.drafts));
    return written;
  }

  // All requests in `count` slots; one that finds no slot waits.
  static std::vector<Written> together(Decoder& decoder, SpeculationResources& resources,
                                       const std::vector<Generation>& requests, int count) {
    std::vector<Written> written(requests.size());
    Slots joint(decoder, resources, count);
    std::size_t next = 0;
    while (next < requests.size() || joint.running() > 0) {
      while (next < requests.size() && !joint.full()) {
        Written& to = written[next];
        joint.start({.generation = requests[next++],
                     .callbacks = keeping(to.drafts),
                     .ended = [&to](GenerationOutcome outcome) { to.outcome = std::move(outcome); }});
      }
      if (joint.running() > 0) joint.step();
    }
    return written;
  }

  // Requests of other lengths, drafters and shapes; the oracle's and the coin's know their texts.
  static std::vector<Generation> mixed(Engine& engine) {
    using Kind = DraftShape::Kind;
    std::vector<Generation> requests = {
        requestOf(1, 40, SpeculationOptions::off()),
        requestOf(2, 90, SpeculationOptions::tree(TokenOrigin::kRandom, 31)),
        requestOf(3, 7, SpeculationOptions::tree(TokenOrigin::kOracle, 15)),
        requestOf(4, 130, SpeculationOptions::chain(TokenOrigin::kOwnText, 7)),
        requestOf(5, 1, SpeculationOptions::chain(TokenOrigin::kWrong, 3), 0.8f),
        requestOf(6, 65, SpeculationOptions::of({TokenOrigin::kHalfRight}, {Kind::kTree, 9}), 1.2f),
        requestOf(7, 64, {}),
        requestOf(8, 33, SpeculationOptions::off(), 0.7f),
    };
    for (Generation& request : requests) {
      Generation plain = request;
      plain.speculation = SpeculationOptions::off();
      request.speculation.reference = engine.generator->run(plain, {}).tokens;
    }
    return requests;
  }

 private slots:
  void initTestCase() {
    for (const char* name : {"llama", "gemma3", "qwen35", "qwen3moe", "qwen35-nextn"}) {
      const std::string recipe = std::string(TANDEM_TEST_DATA "/tiny-models/") + name + ".json";
      QVERIFY(writeTinyModel(recipe, path(name)).ok());
    }
    QVERIFY(writeTinyModel(TANDEM_TEST_DATA "/tiny-models/llama.json", path("draft"), 2).ok());
  }

  void eachAnswerIsTheOneAlone_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("count");
    for (const char* name : {"llama", "gemma3", "qwen35", "qwen3moe"}) {
      for (const int count : {2, 4, 8})
        QTest::newRow((std::string(name) + ", " + std::to_string(count)).c_str()) << QString(name) << count;
    }
  }
  void eachAnswerIsTheOneAlone() {
    QFETCH(QString, name);
    QFETCH(int, count);
    Engine engine = openEngine(path(name.toUtf8().constData()), 1);
    const std::vector<Generation> requests = mixed(engine);
    std::vector<Written> expected;
    for (const Generation& request : requests)
      expected.push_back(alone(engine, request));
    SpeculationResources resources;
    const std::vector<Written> written = together(*engine.decoder, resources, requests, count);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      QVERIFY(written[i].outcome.tokens.size() > 20);
      QVERIFY2(sameText(written[i].outcome, expected[i].outcome), std::to_string(i).c_str());
      // Another request's answer would be noticed.
      QVERIFY(!sameText(written[i].outcome, expected[(i + 1) % requests.size()].outcome));
      for (const auto& draft : written[i].drafts)
        QVERIFY(static_cast<int>(draft.size()) < Slots::kMost);
    }
  }

  // The drafters of a request propose what they propose alone, bit for bit, though all learn from one
  // another.
  void draftsAreThoseAlone_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("origin");
    for (const TokenOrigin origin :
         {TokenOrigin::kOwnText, TokenOrigin::kDraftModel, TokenOrigin::kRandom, TokenOrigin::kOracle})
      QTest::addRow("llama, %s", tokenOriginName(origin)) << QString("llama") << static_cast<int>(origin);
    QTest::addRow("qwen35-nextn, mtp") << QString("qwen35-nextn") << static_cast<int>(TokenOrigin::kMtp);
  }
  void draftsAreThoseAlone() {
    QFETCH(QString, name);
    QFETCH(int, origin);
    constexpr int kRequests = 4;
    const auto drafter = static_cast<TokenOrigin>(origin);
    Engine engine = openEngine(path(name.toUtf8().constData()), 1);
    const auto prepare = [&](SpeculationResources& resources) {
      if (drafter != TokenOrigin::kDraftModel) return;
      auto draft = DraftModel::load(path("draft"), engine.decoder->model(), {.threads = 1});
      if (!draft.ok()) qFatal("%s", draft.error().describe().c_str());
      resources.draftModel = std::move(*draft);
    };
    for (const bool tree : {false, true}) {
      const int nodes = Slots::share(kRequests) - 1;
      const auto speculation =
          tree ? SpeculationOptions::tree(drafter, nodes) : SpeculationOptions::chain(drafter, nodes);
      std::vector<Generation> requests;
      std::vector<Drafts> expected;
      for (int i = 0; i < kRequests; ++i) {
        requests.push_back(requestOf(3 * i, 40 + 30 * i, speculation));  // of one length of answer
        Generation& request = requests.back();
        Generation plain = request;
        plain.speculation = SpeculationOptions::off();
        request.speculation.reference = engine.generator->run(plain, {}).tokens;
        Engine own{nullptr, std::make_unique<Generator>(*engine.decoder)};
        prepare(own.generator->speculation());
        expected.push_back(alone(own, request).drafts);
      }
      SpeculationResources shared;
      prepare(shared);
      const std::vector<Written> written = together(*engine.decoder, shared, requests, kRequests);
      std::size_t drafted = 0;
      for (int i = 0; i < kRequests; ++i) {
        // While all run each has the share that it was given alone; a chunk of the prompt changes nothing.
        const std::size_t common = std::min(written[i].drafts.size(), expected[i].size());
        QVERIFY(common >= 1);
        QCOMPARE(written[i].drafts.size(), expected[i].size());
        for (std::size_t round = 0; round < common; ++round) {
          QVERIFY(written[i].drafts[round] == expected[i][round]);
          drafted += written[i].drafts[round].size();
        }
      }
      QVERIFY(drafted > 0);
    }
  }

  void treesAreCutToShares() {
    QCOMPARE(Slots::share(1), 32);
    QCOMPARE(Slots::share(2), 16);
    QCOMPARE(Slots::share(4), 8);
    QCOMPARE(Slots::share(5), 6);
    QCOMPARE(Slots::share(32), 1);
    Engine engine = openEngine(path("llama"), 1);
    std::vector<Generation> requests;
    for (int i = 0; i < 4; ++i)
      requests.push_back(requestOf(3 * i, 20, SpeculationOptions::tree(TokenOrigin::kWrong, 31)));
    SpeculationResources resources;
    std::size_t largest = 0;
    for (const Written& written : together(*engine.decoder, resources, requests, 4)) {
      // The first rounds stand beside those that still read.
      QVERIFY(written.drafts.size() > 8);
      for (std::size_t round = 8; round < written.drafts.size() - 8; ++round)
        largest = std::max(largest, written.drafts[round].size());
    }
    QCOMPARE(largest, std::size_t{7});
  }

  void cancelEndsOneAlone() {
    Engine engine = openEngine(path("llama"), 1);
    const std::vector<Generation> requests = mixed(engine);
    std::atomic<bool> cancel = false;
    std::vector<GenerationOutcome> outcomes(3);
    SpeculationResources resources;
    Slots joint(*engine.decoder, resources, 3);
    for (int i = 0; i < 3; ++i) {
      GenerationCallbacks callbacks;
      int seen = 0;
      if (i == 0) {
        callbacks.piece = [&cancel, seen](TextPiece) mutable {
          if (++seen == 8) cancel = true;
        };
      }
      joint.start({requests[i], callbacks, i == 1 ? &cancel : nullptr,
                   [&outcomes, i](GenerationOutcome outcome) { outcomes[i] = std::move(outcome); }});
    }
    while (joint.running() > 0)
      joint.step();
    for (int i = 0; i < 3; ++i) {
      const GenerationOutcome expected = alone(engine, requests[i]).outcome;
      if (i == 1) {
        QCOMPARE(outcomes[1].stats.finish, FinishReason::kCancelled);
        QVERIFY(!outcomes[1].tokens.empty() && outcomes[1].tokens.size() < expected.tokens.size());
        QVERIFY(std::equal(outcomes[1].tokens.begin(), outcomes[1].tokens.end(), expected.tokens.begin()));
      } else {
        QVERIFY(sameText(outcomes[i], expected));
      }
    }
  }

  void aFaultOfOneEndsOneAlone() {
    // The model knows a token whose embedding is no number.
    constexpr TokenId kBad = 99;
    auto copy = ModelCopy::of(path("llama"));
    QVERIFY(copy.ok());
    const std::size_t dim = openEngine(path("llama"), 1).decoder->model().config().dim;
    std::vector<float> embedding = tinyWeights("token_embd.weight", 128 * dim, 1);
    embedding[kBad * dim] = std::numeric_limits<float>::quiet_NaN();
    const auto bytes = std::as_bytes(std::span(embedding));
    copy->setType("token_embd.weight", gguf::TensorType::kF32);
    copy->setData("token_embd.weight", {bytes.begin(), bytes.end()});
    QVERIFY(copy->write(path("bad")).ok());
    Engine engine = openEngine(path("bad"), 1);

    std::vector<Generation> requests = {requestOf(1, 20, SpeculationOptions::off()),
                                        requestOf(2, 20, SpeculationOptions::chain(TokenOrigin::kOracle, 3)),
                                        requestOf(3, 20, SpeculationOptions::off())};
    // It is drafted in a round that others share.
    Generation plain = requests[1];
    plain.speculation = SpeculationOptions::off();
    requests[1].speculation.reference = engine.generator->run(plain, {}).tokens;
    requests[1].speculation.reference[6] = kBad;
    SpeculationResources resources;
    const std::vector<Written> written = together(*engine.decoder, resources, requests, 3);
    QVERIFY(!written[1].outcome.status.ok() && !written[1].outcome.tokens.empty());
    QCOMPARE(written[1].outcome.status.error().code, ErrorCode::kNonFinite);
    for (const int i : {0, 2})
      QVERIFY(sameText(written[i].outcome, alone(engine, requests[i]).outcome));
  }

  // A request that decodes never waits for more than one chunk, and those that read take turns.
  void chunksAndRoundsTakeTurns() {
    QCOMPARE(Slots::chunkRows(0, 512), 32);
    QCOMPARE(Slots::chunkRows(1.0, 512), 96);
    QCOMPARE(Slots::chunkRows(50, 512), 8);
    QCOMPARE(Slots::chunkRows(0.01, 512), 512);
    QCOMPARE(Slots::chunkRows(1.0, 33), 32);

    auto model = Model::load(path("llama"));
    QVERIFY(model.ok());
    auto decoder = Decoder::create(*model, {.threads = 1, .maxRows = 33});  // so that a chunk is at most 33
    QVERIFY(decoder.ok());
    SpeculationResources resources;
    Slots joint(**decoder, resources, 3);
    std::string log, readers;
    const auto reader = [&](char name) {
      return GenerationCallbacks{.prefill = [&, name](int, int) {
        log += 'c';
        readers += name;
      }};
    };
    Generation first = requestOf(1, 3, SpeculationOptions::off());
    first.maxTokens = 60;
    joint.start({.generation = first, .callbacks = {.round = [&](const RoundReport&) { log += 'r'; }}});
    for (int i = 0; i < 5; ++i)
      joint.step();
    joint.start({.generation = requestOf(2, 220, SpeculationOptions::off()), .callbacks = reader('b')});
    joint.start({.generation = requestOf(3, 220, SpeculationOptions::off()), .callbacks = reader('c')});
    while (joint.running() > 0)
      joint.step();
    QVERIFY(readers.size() >= 2 * (220 / 33));
    QVERIFY2(readers.starts_with("bcbcbcbcbcbc"), readers.c_str());
    QVERIFY(log.find('c') < log.rfind('r'));
    QCOMPARE(longestWait(log), 1);
    // Whole prompts at once would be noticed.
    QCOMPARE(longestWait("rrcccrcrr"), 3);
  }
};

QTEST_APPLESS_MAIN(TestSlots)
#include "test_slots.moc"
