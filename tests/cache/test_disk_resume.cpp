// What a model takes over from files of an earlier program has the bits of a cold read: tokens, logits, keys
// and values, state. With planted faults, to show that these tests would see one.
#include <QFileInfo>
#include <QTemporaryDir>
#include <QtTest>
#include <filesystem>
#include <fstream>
#include <map>

#include "engine/cache/disk_cache.h"
#include "engine/verify/cache_checks.h"
#include "engine/verify/text_proof.h"
#include "engine/verify/token_stream.h"
#include "storage/text_index.h"
#include "tests/cache/histories.h"
#include "tests/gguf/tiny_models.h"

using namespace tandem;
using namespace tandem::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kModels[] = {"llama", "gemma3", "qwen35", "qwen3next", "qwen35-nextn"};
constexpr int kContext = 3000;
constexpr int kGrid = 256;

}  // namespace

class TestDiskResume : public QObject {
  Q_OBJECT

  QTemporaryDir dir_;
  int folders_ = 0;

  std::string newFolder() { return dir_.filePath(QString("texts%1").arg(++folders_)).toStdString(); }
  Engine open(const char* name, std::uint64_t seed = 1,
              kernels::CacheType cacheType = kernels::CacheType::kF16) {
    const std::string file = (dir_.path() + "/" + name + QString::number(seed) + ".gguf").toStdString();
    const Status written =
        writeTinyModel(std::string(TANDEM_TEST_DATA) + "/tiny-models/" + name + ".json", file, seed);
    if (!written.ok()) qFatal("%s", written.error().describe().c_str());
    return openEngine(file, 1, cacheType);
  }
  // The caches of a program that has just started.
  static std::unique_ptr<PrefixCache> start(Engine& engine, const std::string& folder, DiskFaults faults = {},
                                            PrefixCacheOptions memory = {.budget = std::size_t{1} << 30,
                                                                         .grid = kGrid}) {
    DiskCacheOptions options;
    options.folder.path = folder;
    options.folder.openIndex = [](const std::string& path) { return storage::CacheIndex::open(path); };
    options.folder.faults = faults;
    options.settle = std::chrono::milliseconds(0);
    const Model& model = engine.decoder->model();
    auto cache = std::make_unique<PrefixCache>(engine.decoder->newSequence(), memory);
    cache->setDisk(std::make_shared<DiskCache>(options, model.fingerprint(), engine.decoder->newSequence(),
                                               model.config().vocabulary));
    return cache;
  }
  static Generation request(std::vector<TokenId> prompt, int tokens) {
    return plainRequest(std::move(prompt), tokens, kContext);
  }
  static void addModels() {
    QTest::addColumn<QString>("name");
    for (const char* name : kModels)
      QTest::newRow(name) << QString(name);
  }

 private slots:
  void aNewProgramGoesOn_data() { addModels(); }
  void aNewProgramGoesOn() {
    QFETCH(QString, name);
    Engine engine = open(name.toUtf8().constData());
    const std::string folder = newFolder();
    const std::vector<TokenId> base = randomText(1300, 3), brief = randomText(70, 4);
    {
      const auto cache = start(engine, folder);
      QVERIFY(sameAsCold(engine, request(base, 20), *cache));
      QVERIFY(sameAsCold(engine, request(brief, 5), *cache));
    }
    for (const int length : {40, 64, 256, 300, 1023, 1024, 1025, 1200, 1300}) {
      const auto cache = start(engine, folder);
      std::vector<TokenId> prompt(base.begin(), base.begin() + length);
      prompt.push_back(7);
      GenerationStats stats;
      QVERIFY2(sameAsCold(engine, request(prompt, 3), *cache, &stats), qPrintable(QString::number(length)));
      // What earlier rounds of this loop have kept ends with their prompts, and begins as this one.
      const int expected = cache->stateful() && length < 1300 ? length / kGrid * kGrid : length;
      QVERIFY2(stats.cachedTokens == expected,
               qPrintable(QString("%1: %2").arg(length).arg(stats.cachedTokens)));
      QVERIFY(cache->disk()->unusable().empty());
    }
    {
      const auto cache = start(engine, folder);
      GenerationStats stats;
      QVERIFY(sameAsCold(engine, request(base, 20), *cache, &stats));
      QCOMPARE(stats.cachedTokens, cache->stateful() ? 1300 : 1299);
      QVERIFY(sameAsCold(engine, request(brief, 5), *cache, &stats));
      QCOMPARE(stats.cachedTokens, cache->stateful() ? 70 : 69);
    }
    // Every file proves itself, and a changed one does not.
    const auto cache = start(engine, folder);
    const std::vector<TextRowPtr> rows = cache->disk()->rows();
    QVERIFY(rows.size() >= 3);
    for (const TextRowPtr& row : rows) {
      auto file = TextFileReader::open(folder + "/" + row->file);
      QVERIFY(file);
      const auto proof = proveText(*engine.decoder, std::move(*file), nullptr);
      QVERIFY(proof);
      QVERIFY(proof->bytes > 0);
      QCOMPARE(proof->differing, std::uint64_t(0));
    }
    Engine other = open(name.toUtf8().constData(), 2);
    auto file = TextFileReader::open(folder + "/" + rows[0]->file);
    QVERIFY(!proveText(*other.decoder, std::move(*file), nullptr));
  }

  // The row of `tandem-cli verify`, right and with faults.
  void verifySeesIt() {
    const auto row = [&](const char* name, const DiskFaults& faults) {
      const Engine engine = open(name);
      CheckResult result;
      result.passed = true;
      const Status status = checkDiskResume(
          *engine.decoder, randomText(100, 3),
          [](const std::string& path) { return storage::CacheIndex::open(path); }, faults, nullptr, result);
      if (!status.ok()) qFatal("%s", status.error().describe().c_str());
      qInfo("%s: %s", name, result.detail.c_str());
      return result;
    };
    for (const char* name : kModels) {
      const CheckResult right = row(name, {});
      QVERIFY2(right.passed && right.difference.none() && right.difference.compared > 0, name);
      QVERIFY2(row(name, {.oneHash = true}).passed, name);
    }
    for (const char* name : {"llama", "qwen35"}) {
      const CheckResult wrong = row(name, {.oneHash = true, .trustHash = true});
      QVERIFY2(!wrong.passed || !wrong.difference.none(), name);
    }
  }

  // Texts that were let go, or left by programs that have ended, come back from the disk.
  void randomHistories_data() { addModels(); }
  void randomHistories() {
    QFETCH(QString, name);
    Engine engine = open(name.toUtf8().constData());
    std::string folder;
    const HistoryCounts sum = runHistories(engine, histories(10), [&](int seed) {
      folder = newFolder();
      const auto started = [&](PrefixCacheOptions options) { return start(engine, folder, {}, options); };
      return HistoryOptions{.context = 500, .company = seed % 2 == 0, .start = started};
    });
    QCOMPARE(sum.differing + sum.wrongReuse, 0);
    QVERIFY(sum.cached > sum.prompt / 3 && sum.restarts > 0);
  }

  // Both real models, past the window of Gemma's layers.
  void realModels_data() {
    QTest::addColumn<QString>("file");
    QTest::newRow("SmolLM2") << "SmolLM2-135M-Instruct.Q4_1.gguf";
    QTest::newRow("Gemma 3") << "gemma-3-270m-Q4_K_M.gguf";
  }
  void realModels() {
    QFETCH(QString, file);
    const QString path = qEnvironmentVariable("TANDEM_MODELS") + "/" + file;
    QVERIFY2(QFileInfo::exists(path), "not in the folder that TANDEM_MODELS names; ./test fetches it");
    Engine engine = openEngine(path.toStdString(), 2);
    std::string folder;
    const HistoryCounts sum = runHistories(engine, histories(1), [&](int seed) {
      folder = newFolder();
      const auto started = [&](PrefixCacheOptions options) { return start(engine, folder, {}, options); };
      return HistoryOptions{.context = 900, .firstToken = 1000, .company = seed % 2 == 1, .start = started};
    });
    QCOMPARE(sum.differing + sum.wrongReuse, 0);
    QVERIFY(sum.cached > 0);
  }

  // The same shape, other weights.
  void anotherModelReadsAnew() {
    for (const char* name : {"llama", "qwen35"}) {
      Engine one = open(name), two = open(name, 2);
      const std::string folder = newFolder();
      const std::vector<TokenId> base = randomText(400, 5);
      QVERIFY(sameAsCold(one, request(base, 5), *start(one, folder)));
      GenerationStats stats;
      QVERIFY(sameAsCold(two, request(base, 5), *start(two, folder), &stats));
      QCOMPARE(stats.cachedTokens, 0);
      QVERIFY(sameAsCold(one, request(base, 5), *start(one, folder), &stats));
      QVERIFY(stats.cachedTokens >= 399);
    }
  }

  // Files carry the cache's type: those of one are never read by another, and each goes on from its own.
  void anotherCacheTypeReadsAnew() {
    for (const char* name : {"llama", "qwen35"}) {
      const std::string folder = newFolder();
      const std::vector<TokenId> base = randomText(1300, 9);
      for (const bool known : {false, true}) {
        for (const kernels::CacheType type : kernels::kCacheTypes) {
          Engine engine = open(name, 1, type);
          const auto cache = start(engine, folder);
          GenerationStats stats;
          QVERIFY2(sameAsCold(engine, request(base, 5), *cache, &stats), cacheTypeName(type));
          QCOMPARE(stats.cachedTokens >= 1299, known);
          QCOMPARE(stats.cachedTokens > 0, known);
          QVERIFY(cache->disk()->unusable().empty());
        }
      }
      // Put in each other's place they are told, and every one proves itself to its own type.
      std::map<std::uint32_t, int> proved;
      for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() != ".text") continue;
        for (const kernels::CacheType type : kernels::kCacheTypes) {
          auto file = TextFileReader::open(entry.path());
          QVERIFY(file);
          const std::uint32_t own = file->head().key.cacheType;
          Engine engine = open(name, 1, type);
          const auto proof = proveText(*engine.decoder, std::move(*file), nullptr);
          QCOMPARE(proof.ok(), own == static_cast<std::uint32_t>(type));
          if (!proof.ok()) continue;
          QCOMPARE(proof->differing, std::uint64_t(0));
          ++proved[own];
        }
      }
      QCOMPARE(proved.size(), std::size(kernels::kCacheTypes));
    }
  }

  // A byte that differs and a text that does not match, with and without the checks that see them.
  void faultsAreSeen() {
    for (const char* name : {"llama", "qwen35"}) {
      Engine engine = open(name);
      const std::string folder = newFolder();
      const std::vector<TokenId> base = randomText(1300, 6), other = randomText(1300, 7);
      for (const auto& one : {base, other})
        QVERIFY(sameAsCold(engine, request(one, 5), *start(engine, folder, {.oneHash = true})));
      std::vector<TokenId> mixed(base.begin(), base.begin() + 1024);
      mixed.insert(mixed.end(), other.begin() + 1024, other.end());
      QVERIFY(sameAsCold(engine, request(mixed, 5), *start(engine, folder, {.oneHash = true})));
      QVERIFY(!sameAsCold(engine, request(randomText(1200, 8), 5),
                          *start(engine, folder, {.oneHash = true, .trustHash = true})));

      const std::string damaged = newFolder();
      QVERIFY(sameAsCold(engine, request(base, 5), *start(engine, damaged)));
      for (const auto& entry : fs::directory_iterator(damaged)) {
        if (entry.path().extension() != ".text") continue;
        std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
        // The highest byte of a number near the end: the last page's values, or the state's.
        file.seekp(static_cast<std::streamoff>(entry.file_size() / 2 / 4 * 4 + 3));
        file.put('\x41');
      }
      const std::string copy = newFolder();
      fs::copy(damaged, copy, fs::copy_options::recursive);
      QVERIFY(!sameAsCold(engine, request(base, 5), *start(engine, copy, {.skipChecksum = true})));
      const auto cache = start(engine, damaged);
      GenerationStats stats;
      QVERIFY(sameAsCold(engine, request(base, 5), *cache, &stats));
      QCOMPARE(stats.cachedTokens, 0);
      QVERIFY(!cache->disk()->unusable().empty());
    }
  }
};

QTEST_APPLESS_MAIN(TestDiskResume)
#include "test_disk_resume.moc"
