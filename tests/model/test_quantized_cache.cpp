// Caches of int8 rows: each type is exact to itself, a fault in one is caught, and the distance from the F16
// cache is measured as it is defined.
#include <QTemporaryDir>
#include <QtTest>

#include "engine/verify/checks.h"
#include "engine/verify/quantized_cache_checks.h"
#include "tests/gguf/tiny_models.h"
#include "tests/model/faulty_kernels.h"
#include "tests/model/quantized_tiny.h"

using namespace tandem;
using namespace tandem::test;
using kernels::CacheType;

namespace {

constexpr CacheType kQuantized[] = {CacheType::kVq8, CacheType::kQ8};

VerifyOptions quick(const kernels::KernelSet& set, CacheType type) {
  VerifyOptions options;
  options.kernels = &set;
  options.otherSets = {&kernels::referenceKernels()};
  options.threadCounts = {1, 3};
  options.cacheType = type;
  options.tokens = options.kernelTokens = 72;  // more than one tile
  options.generated = 32;
  options.sharedPasses = 12;
  options.largestBatch = 6;
  return options;
}

}  // namespace

class TestQuantizedCache : public QObject {
  Q_OBJECT

  std::string path(const char* name) const { return (dir_.path() + "/" + name + ".gguf").toStdString(); }
  std::shared_ptr<const Model> model(const char* name) const {
    auto loaded = Model::load(path(name));
    if (!loaded.ok()) qFatal("%s", loaded.error().describe().c_str());
    return *loaded;
  }
  static std::unique_ptr<Decoder> decoder(std::shared_ptr<const Model> model, CacheType type,
                                          const kernels::KernelSet* set = nullptr) {
    auto made = Decoder::create(std::move(model), {.kernels = set, .threads = 1, .cacheType = type});
    if (!made.ok()) qFatal("%s", made.error().describe().c_str());
    return std::move(*made);
  }
  QTemporaryDir dir_;

 private slots:
  void initTestCase() {
    for (const char* name : {"llama", "gemma3", "qwen35", "qwen35moe"}) {
      const std::string recipe = std::string(TANDEM_TEST_DATA "/tiny-models/") + name + ".json";
      QVERIFY(writeTinyModel(recipe, path(name)).ok());
    }
    QVERIFY(writeQuantizedTiny(path("llama"), path("quantized")).ok());
    QVERIFY(writeQuantizedTiny(path("qwen35moe"), path("quantizedHybrid")).ok());
  }

  void checksPass_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<CacheType>("type");
    for (const CacheType type : kQuantized) {
      for (const char* name : {"llama", "gemma3", "qwen35", "quantized", "quantizedHybrid"})
        QTest::addRow("%s, %s", name, cacheTypeName(type)) << QString(name) << type;
    }
  }
  void checksPass() {
    QFETCH(QString, name);
    QFETCH(CacheType, type);
    const auto subject = model(name.toUtf8().constData());
    for (const kernels::KernelSet* set : kernels::availableKernels()) {
      if (set == &kernels::referenceKernels()) continue;  // compared with the others
      const Status status = runChecks(subject, quick(*set, type), [&](const CheckResult& result) {
        QVERIFY2(result.passed, (std::string(set->name) + ": " + result.name + ": " + result.detail).c_str());
      });
      QVERIFY2(status.ok(), status.ok() ? "" : status.error().describe().c_str());
    }
  }

  void faultsAreCaught_data() {
    QTest::addColumn<int>("fault");
    QTest::addColumn<CacheType>("type");
    const auto faults = plantCacheFaults(kernels::bestKernels());
    for (const CacheType type : kQuantized) {
      for (std::size_t f = 0; f < faults.size(); ++f)
        QTest::addRow("%s, %s", faults[f].name, cacheTypeName(type)) << int(f) << type;
    }
  }
  void faultsAreCaught() {
    QFETCH(int, fault);
    QFETCH(CacheType, type);
    const auto faults = plantCacheFaults(kernels::bestKernels());
    std::string failed;
    const Status status =
        runChecks(model("quantized"), quick(faults[fault].kernels, type), [&](const CheckResult& result) {
          if (!result.passed) failed += result.name + "; ";
        });
    QVERIFY2(status.ok() && !failed.empty(), "nothing failed");
    qInfo("caught by: %s", failed.c_str());
  }

  // The types differ in their bits, and keep the sizes that the layout says.
  void eachTypeIsAProfileOfItsOwn() {
    const auto llama = model("llama");
    std::vector<TokenId> text;
    for (int i = 0; i < 80; ++i)
      text.push_back(i * 37 % llama->config().vocabulary);
    std::vector<std::vector<float>> logits;
    for (const CacheType type : kernels::kCacheTypes) {
      const auto engine = decoder(llama, type);
      Sequence sequence = engine->newSequence();
      QVERIFY(engine->read(sequence, text).ok());
      logits.emplace_back(engine->logits(0).begin(), engine->logits(0).end());
      for (std::size_t i = 0; i + 1 < logits.size(); ++i)
        QVERIFY(logits[i] != logits.back());
    }
  }

  // Nothing apart from itself, int8 rows a little, one bit much more; so the bound can be held and be broken.
  void variationGrowsWithWhatIsLost() {
    for (const char* name : {"llama", "gemma3", "qwen35"}) {
      const auto tiny = model(name);
      std::vector<TokenId> text;
      for (int i = 0; i < 100; ++i)
        text.push_back(i * 37 % tiny->config().vocabulary);
      const kernels::KernelSet oneBit = withOneBitRows(kernels::bestKernels());
      const auto exact = decoder(tiny, CacheType::kF16), same = decoder(tiny, CacheType::kF16);
      QCOMPARE(*meanVariation(*exact, *same, text, nullptr), 0.0);
      for (const CacheType type : kQuantized) {
        const auto int8 = decoder(tiny, type), coarse = decoder(tiny, type, &oneBit);
        const double little = *meanVariation(*exact, *int8, text, nullptr);
        const double much = *meanVariation(*exact, *coarse, text, nullptr);
        qInfo("%s, %s: %.3e, with one bit %.3e", name, cacheTypeName(type), little, much);
        QVERIFY(little > 0 && little < kMostVariation && much >= kMostVariation && much > 20 * little);
      }
    }
  }
};

QTEST_APPLESS_MAIN(TestQuantizedCache)
#include "test_quantized_cache.moc"
