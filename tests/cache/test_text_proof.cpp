// Entries of the cache in memory against the model: what is right proves itself, and every kind of wrong byte
// is seen.
#include <QTemporaryDir>
#include <QtTest>

#include "engine/verify/text_proof.h"
#include "tests/cache/histories.h"
#include "tests/gguf/tiny_models.h"

using namespace tandem;
using namespace tandem::test;

namespace {

constexpr int kContext = 4096, kGrid = 64;

}  // namespace

class TestTextProof : public QObject {
  Q_OBJECT

  QTemporaryDir dir_;

  Engine open(const char* name) {
    const std::string file = (dir_.path() + "/" + name + ".gguf").toStdString();
    const Status written =
        writeTinyModel(std::string(TANDEM_TEST_DATA) + "/tiny-models/" + name + ".json", file, 1);
    if (!written.ok()) qFatal("%s", written.error().describe().c_str());
    return openEngine(file, 1);
  }
  static std::unique_ptr<PrefixCache> filled(Engine& engine, const CacheFaults& faults = {}) {
    auto cache = std::make_unique<PrefixCache>(
        engine.decoder->newSequence(),
        PrefixCacheOptions{.budget = std::size_t{1} << 30, .grid = kGrid, .faults = faults});
    for (const int length : {100, 200}) {
      Generation request = plainRequest(randomText(length, 3), 30, kContext);
      request.cache = cache.get();
      if (!engine.generator->run(request, {}).status.ok()) qFatal("no answer");
    }
    return cache;
  }
  static TextProof prove(Engine& engine, HeldText held) {
    TextProver prover = TextProver::of(*engine.decoder, std::move(held));
    while (!prover.done()) {
      if (!prover.step(37, nullptr)) qFatal("no proof");
    }
    return prover.proof();
  }

 private slots:
  void entriesProveThemselves() {
    for (const char* name : {"llama", "gemma3", "qwen35", "qwen35-nextn"}) {
      Engine engine = open(name);
      const auto cache = filled(engine);
      const std::vector<CacheEntry> entries = cache->entries();
      QVERIFY(entries.size() >= 3);
      for (const CacheEntry& entry : entries) {
        const auto held = cache->held(entry.id);
        QVERIFY(held);
        QCOMPARE(static_cast<int>(held->tokens.size()), entry.tokens);
        QCOMPARE(held->kv.length(), entry.tokens);
        QCOMPARE(held->mark.has_value(), entry.tier != CacheTier::kPages);
        const TextProof proof = prove(engine, *held);
        QCOMPARE(proof.differing, std::uint64_t(0));
        const std::size_t rows = held->kv.layout().tokenBytes() * static_cast<std::size_t>(entry.tokens);
        QCOMPARE(proof.bytes, rows + (held->mark ? held->mark->bytes() : 0));
      }
      QVERIFY(!cache->held(entries.back().id + 1000));
    }
  }

  void aWrongByteIsSeen() {
    for (const char* name : {"llama", "qwen35"}) {
      Engine engine = open(name);
      const auto cache = filled(engine);
      bool pages = false, logits = false;
      for (const CacheEntry& entry : cache->entries()) {
        HeldText held = *cache->held(entry.id);
        std::byte& byte = held.kv.pages().back().get()[1];  // of the last page's first row
        byte ^= std::byte{1};
        QCOMPARE(prove(engine, held).differing, std::uint64_t(1));
        byte ^= std::byte{1};
        pages = true;
        if (!held.mark || !held.mark->logits) continue;
        std::vector<float> wrong = *held.mark->logits;
        wrong.back() = std::nextafter(wrong.back(), 1e9f);
        held.mark->logits = std::make_shared<const std::vector<float>>(std::move(wrong));
        QVERIFY(prove(engine, held).differing > 0);
        logits = true;
      }
      QVERIFY(pages && logits);
    }
  }

  // A state that has read one token more than it says.
  void aWrongStateIsSeen() {
    Engine engine = open("qwen35");
    const auto cache = filled(engine, {.lateSnapshot = true});
    int grid = 0;
    for (const CacheEntry& entry : cache->entries()) {
      const TextProof proof = prove(engine, *cache->held(entry.id));
      QCOMPARE(proof.differing > 0, entry.tier == CacheTier::kGrid);
      grid += entry.tier == CacheTier::kGrid;
    }
    QVERIFY(grid > 0);
  }

  void aStoppedProofEnds() {
    Engine engine = open("llama");
    const auto cache = filled(engine);
    TextProver prover = TextProver::of(*engine.decoder, *cache->held(cache->entries().back().id));
    std::atomic<bool> cancel = false;
    QVERIFY(prover.step(8, &cancel));
    QCOMPARE(prover.read(), 8);
    cancel = true;
    const Status stopped = prover.step(8, &cancel);
    QVERIFY(!stopped);
    QCOMPARE(stopped.error().code, ErrorCode::kCancelled);
  }

  // What a person changes counts for what is read from then on.
  void marksFollowTheSettings() {
    Engine engine = open("qwen35");
    const auto cache = filled(engine);
    const auto count = [&](CacheTier tier) {
      return std::ranges::count(cache->entries(), tier, &CacheEntry::tier);
    };
    const auto anchors = count(CacheTier::kEndAnchor), grid = count(CacheTier::kGrid);
    QVERIFY(anchors > 0 && grid > 0);
    cache->setMarks(2048, false);
    Generation request = plainRequest(randomText(300, 9), 30, kContext);
    request.cache = cache.get();
    QVERIFY(engine.generator->run(request, {}).status.ok());
    QCOMPARE(count(CacheTier::kEndAnchor), anchors);
    QCOMPARE(count(CacheTier::kGrid), grid);
    cache->setMarks(128, true);
    request.prompt = randomText(300, 10);
    QVERIFY(engine.generator->run(request, {}).status.ok());
    QCOMPARE(count(CacheTier::kEndAnchor), anchors + 1);
    QCOMPARE(count(CacheTier::kGrid), grid + 2);
  }
};

QTEST_APPLESS_MAIN(TestTextProof)
#include "test_text_proof.moc"
