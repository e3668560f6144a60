// The machine's peaks, measured with small buffers, and the rates' own bookkeeping.
#include <QTemporaryDir>
#include <QtTest>
#include <fstream>
#include <set>

#include "engine/base/thread_pool.h"
#include "engine/measure/peaks.h"
#include "engine/measure/rates.h"
#include "tests/gguf/tiny_models.h"

using namespace tandem;
using namespace tandem::test;

class TestPeaks : public QObject {
  Q_OBJECT

 private slots:
  void everyKernelSetHasPeaks() {
    constexpr std::uint64_t kFree = 64 << 20;
    for (const kernels::KernelSet* set : kernels::availableKernels()) {
      const auto peaks = measure::measurePeaks(*set, 1 << 20, kFree);
      QVERIFY(peaks.ok());
      QVERIFY(peaks->memoryBuffer <= kFree / 4);
      QCOMPARE(peaks->modelBuffer, std::size_t(1 << 20));
      for (const measure::Peak& peak : {peaks->memory, peaks->model, peaks->int8, peaks->fp32}) {
        QVERIFY2(peak.perSecond > 1e8, set->name);  // the slowest machine does a tenth of a billion
        QVERIFY(peak.threads >= 1 && peak.threads <= availableCpus());
      }
    }
  }

  void aProbeCountsInProportionAndReadsEveryByte() {
    for (const kernels::KernelSet* set : kernels::availableKernels()) {
      QVERIFY(set->probeInt8(1) > 0);
      QCOMPARE(set->probeInt8(7), 7 * set->probeInt8(1));
      QCOMPARE(set->probeFloat(7), 7 * set->probeFloat(1));
      std::vector<std::uint8_t> data(1024, 0);
      QCOMPARE(set->probeRead(data.data(), data.size()), 0u);
      // One of the first lane's words: the sum of this lane sees it wherever a vector of 16 bytes begins.
      data[0] = 5;
      data[960] = 7;
      QCOMPARE(set->probeRead(data.data(), data.size()), 12u);
    }
  }

  void aCancelEndsIt() {
    const std::atomic<bool> cancel{true};
    const auto peaks = measure::measurePeaks(kernels::bestKernels(), 1 << 20, 64 << 20, &cancel);
    QVERIFY(!peaks.ok());
    QCOMPARE(peaks.error().code, ErrorCode::kCancelled);
  }

  void theCacheIsTheLargestThatTheSystemTells() {
    QTemporaryDir dir;
    const auto write = [&](const char* index, const char* size) {
      QVERIFY(QDir(dir.path()).mkpath(index));
      std::ofstream((dir.path() + "/" + index + "/size").toStdString()) << size << "\n";
    };
    write("index0", "48K");
    write("index2", "2048K");
    QCOMPARE(measure::lastLevelCache(dir.path().toStdString()), std::size_t(2048 << 10));
    write("index3", "36M");
    QCOMPARE(measure::lastLevelCache(dir.path().toStdString()), std::size_t(36 << 20));
    QVERIFY(measure::lastLevelCache("/nowhere") > 0);
  }

  void tokensAreFixedAndOfTheVocabulary() {
    const auto tokens = measure::fixedTokens(1000, 128);
    QCOMPARE(tokens.size(), std::size_t(1000));
    QVERIFY(std::ranges::all_of(tokens, [](TokenId t) { return t >= 0 && t < 128; }));
    QVERIFY(std::set<TokenId>(tokens.begin(), tokens.end()).size() > 100);
    // A longer prompt begins with the shorter one.
    const auto longer = measure::fixedTokens(1100, 128);
    QVERIFY(std::equal(tokens.begin(), tokens.end(), longer.begin()));
  }

  void ratesHaveATimePerRun() {
    QTemporaryDir dir;
    const std::string path = (dir.path() + "/qwen3moe.gguf").toStdString();
    QVERIFY(writeTinyModel(std::string(TANDEM_TEST_DATA) + "/tiny-models/qwen3moe.json", path).ok());
    const auto model = Model::load(path);
    QVERIFY(model.ok());
    const auto decoder = Decoder::create(*model, {.threads = 1});
    QVERIFY(decoder.ok());
    const auto prompt = measure::fixedTokens(70, 128);
    const auto prefill = measure::timePrefill(**decoder, prompt, 3);
    QVERIFY(prefill.ok());
    QCOMPARE(prefill->read.size(), std::size_t(3));
    for (int run = 0; run < 3; ++run)
      QVERIFY(prefill->firstToken[run] >= prefill->read[run] && prefill->read[run] > 0);
    // A context of one token has nothing to read before it.
    for (const int context : {1, 70}) {
      const auto decode = measure::timeDecode(**decoder, std::span(prompt).first(context), 4, 2);
      QVERIFY(decode.ok());
      QCOMPARE(decode->size(), std::size_t(2));
      QVERIFY(std::ranges::all_of(*decode, [](double ms) { return ms > 0; }));
    }
    const auto products = measure::timeProducts(**model, (*decoder)->kernels(), 2, 8, 2);
    QCOMPARE(products.size(), std::size_t(2));
    QVERIFY(std::ranges::all_of(products, [](double ms) { return ms > 0; }));
  }
};

QTEST_GUILESS_MAIN(TestPeaks)
#include "test_peaks.moc"
