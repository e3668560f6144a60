// What a text takes over from the cache has the bits of a cold read: tokens, logits, keys and values, state.
// With planted faults, to show that these tests would see one.
#include <QTemporaryDir>
#include <QtTest>
#include <cstring>

#include "engine/verify/checks.h"
#include "engine/verify/token_stream.h"
#include "tests/cache/histories.h"
#include "tests/gguf/tiny_models.h"

using namespace tandem;
using namespace tandem::test;

namespace {

constexpr const char* kModels[] = {"llama", "gemma3", "qwen35", "qwen3next", "qwen35-nextn"};
constexpr std::size_t kRoomy = std::size_t{1} << 30;

}  // namespace

class TestResume : public QObject {
  Q_OBJECT

  QTemporaryDir dir_;

  Engine open(const char* name, kernels::CacheType cacheType = kernels::CacheType::kF16) {
    const std::string file = (dir_.path() + "/" + name + ".gguf").toStdString();
    const Status written =
        writeTinyModel(std::string(TANDEM_TEST_DATA) + "/tiny-models/" + name + ".json", file);
    if (!written.ok()) qFatal("%s", written.error().describe().c_str());
    return openEngine(file, 1, cacheType);
  }

  static Generation request(std::vector<TokenId> prompt, int tokens) {
    return plainRequest(std::move(prompt), tokens, 300);
  }
  static void addModels() {
    QTest::addColumn<QString>("name");
    for (const char* name : kModels)
      QTest::newRow(name) << QString(name);
  }
 private slots:
  void everyLength_data() { addModels(); }
  void everyLength() {
    QFETCH(QString, name);
    Engine engine = open(name.toUtf8().constData());
    const std::vector<TokenId> base = randomText(140, 3);
    PrefixCache cache(engine.decoder->newSequence(), {.budget = kRoomy, .grid = 16});
    QVERIFY(sameAsCold(engine, request(base, 4), cache));
    for (int length = 1; length <= static_cast<int>(base.size()); ++length) {
      // The beginning of the text, then another token than there.
      std::vector<TokenId> prompt(base.begin(), base.begin() + length);
      prompt.push_back(7);
      GenerationStats stats;
      QVERIFY2(sameAsCold(engine, request(prompt, 2), cache, &stats), qPrintable(QString::number(length)));
      // A hybrid resumes from the grid or from where an earlier one of these prompts has ended, but never
      // from behind the first differing token.
      if (cache.stateful()) {
        QCOMPARE(stats.cachedTokens, length == 140 ? 140 : length / 16 * 16);
      } else {
        QCOMPARE(stats.cachedTokens, length);
      }
    }
  }

  void randomHistories_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<kernels::CacheType>("cacheType");
    for (const kernels::CacheType type :
         {kernels::CacheType::kF16, kernels::CacheType::kVq8, kernels::CacheType::kQ8}) {
      for (const char* name : kModels)
        QTest::addRow("%s, %s", name, cacheTypeName(type)) << QString(name) << type;
    }
  }
  void randomHistories() {
    QFETCH(QString, name);
    QFETCH(kernels::CacheType, cacheType);
    Engine engine = open(name.toUtf8().constData(), cacheType);
    const int count = histories(cacheType == kernels::CacheType::kF16 ? 50 : 20);
    const HistoryCounts sum =
        runHistories(engine, count, [](int seed) { return HistoryOptions{.company = seed % 3 == 0}; });
    QCOMPARE(sum.differing + sum.wrongReuse, 0);
    QVERIFY(sum.cached > sum.prompt / 3 && sum.whole > 0 && sum.together > 0);
  }

  // Pages whose hashes are all the same are told apart by their tokens; a cache that trusts the hash is seen.
  void aHashCollisionIsAMiss() {
    Engine engine = open("llama");
    int differing = 0;
    for (int seed = 1; seed <= 10; ++seed) {
      const HistoryCounts right =
          runHistory(engine, static_cast<std::uint64_t>(seed), {.faults = {.oneHash = true}});
      QCOMPARE(right.differing + right.wrongReuse, 0);
      differing += runHistory(engine, static_cast<std::uint64_t>(seed),
                              {.faults = {.oneHash = true, .trustHash = true}})
                       .differing;
    }
    QVERIFY(differing > 0);
  }

  void aStateOneTokenLateIsSeen() {
    Engine engine = open("qwen35");
    int differing = 0;
    for (int seed = 1; seed <= 10; ++seed)
      differing +=
          runHistory(engine, static_cast<std::uint64_t>(seed), {.faults = {.lateSnapshot = true}}).differing;
    QVERIFY(differing > 0);
  }

  // What `tandem-cli verify` says of it, right and with faults.
  void verifySeesIt() {
    const auto row = [&](const char* name, const CacheFaults& faults) {
      VerifyOptions options;
      options.cacheFaults = faults;
      options.threadCounts = {1};
      options.generated = 1;
      options.rejectedRounds = 1;
      options.largestBatch = 2;
      options.largestTree = 2;
      CheckResult found;
      const Engine engine = open(name);
      const auto model = Model::load(engine.decoder->model().file().path());
      if (!model.ok()) qFatal("%s", model.error().describe().c_str());
      const Status status = runChecks(*model, options, [&](const CheckResult& result) {
        if (result.name == "snapshot resumes") found = result;
      });
      if (!status.ok()) qFatal("%s", status.error().describe().c_str());
      qInfo("%s: %s", name, found.detail.c_str());
      return found;
    };
    for (const char* name : kModels) {
      const CheckResult right = row(name, {});
      QVERIFY2(right.passed && right.difference.compared > 0, name);
    }
    QVERIFY(!row("qwen35", {.lateSnapshot = true}).passed);
    QVERIFY(!row("llama", {.oneHash = true, .trustHash = true}).passed);
  }

  // A partly filled page that two texts share and one writes on without a copy of its own.
  void aSharedPageThatIsWrittenIsSeen() {
    Engine engine = open("llama");
    const std::vector<TokenId> base = randomText(100, 5);
    std::vector<TokenId> other(base.begin(), base.begin() + 80);
    for (const TokenId token : randomText(20, 6))
      other.push_back(token);
    for (const bool fault : {false, true}) {
      PrefixCache cache(engine.decoder->newSequence(), {.budget = kRoomy, .grid = 16});
      QVERIFY(sameAsCold(engine, request(base, 4), cache));
      if (fault) {
        QVERIFY(engine.generator->run(request(other, 1), {}).status.ok());
        const KvSequence& rows = engine.generator->sequence().kv;
        const CacheHit hit = cache.find(other);
        QCOMPARE(hit.sequence.length(), 80);
        const KvLayout& layout = rows.layout();
        for (int position = 80; position < 90; ++position) {
          // The row of layer 0, head 0; beyond the hit's length lies the first text's.
          const std::size_t offset =
              layout.offset(0, KvPart::kKey, 0, position % kernels::kTile, kernels::kTile);
          std::memcpy(hit.sequence.kv.pages()[1].get() + offset, rows.row(0, KvPart::kKey, 0, position),
                      layout.rowBytes(KvPart::kKey));
        }
      } else {
        QVERIFY(sameAsCold(engine, request(other, 4), cache));
      }
      std::vector<TokenId> again = base;
      again.push_back(7);
      QCOMPARE(sameAsCold(engine, request(again, 4), cache), !fault);
    }
  }

  // The same prompt again needs no pass, also after its answer was stopped.
  void theSamePromptNeedsNoPass() {
    for (const char* name : kModels) {
      Engine engine = open(name);
      PrefixCache cache(engine.decoder->newSequence(), {.budget = kRoomy, .grid = 1024});
      Generation r = request(randomText(99, 8), 20);
      QVERIFY(sameAsCold(engine, r, cache));
      r.sampling = {.temperature = 0.7f, .topK = 20, .topP = 0.95f, .seed = 4};
      r.cache = &cache;
      int prefills = 0, tokens = 0;
      std::atomic<bool> cancel = false;
      const auto outcome = engine.generator->run(r,
                                                 {.prefill = [&](int, int) { ++prefills; },
                                                  .piece =
                                                      [&](const TextPiece& piece) {
                                                        tokens += static_cast<int>(piece.tokens.size());
                                                        cancel = true;
                                                      }},
                                                 &cancel);
      QCOMPARE(outcome.stats.cachedTokens, 99);
      QCOMPARE(prefills, 1);
      QCOMPARE(outcome.stats.finish, FinishReason::kCancelled);
      QVERIFY(tokens >= 1);
      GenerationStats stats;
      QVERIFY(sameAsCold(engine, r, cache, &stats));
      QCOMPARE(stats.cachedTokens, 99);
    }
  }
};

QTEST_APPLESS_MAIN(TestResume)
#include "test_resume.moc"
