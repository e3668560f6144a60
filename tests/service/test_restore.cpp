// The service with SmolLM2 after a restart: the next turn of a long conversation comes from disk, with the
// text of a service that read all of it, and hardly later than from memory; and writing costs no decoding.
#include <fcntl.h>
#include <unistd.h>

#include <QElapsedTimer>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <filesystem>

#include "app/service/engine_service.h"
#include "engine/verify/token_stream.h"
#include "storage/text_index.h"
#include "tests/service/collector.h"
#include "tests/service/listing.h"

namespace tandem::test {
namespace {

using namespace service;

// Beyond what the turn takes from memory. A machine that is busy takes longer for both: there it is twice
// that turn.
constexpr double kRestoreMs = 60;
constexpr double kWriteShare = 0.1;  // docs/caches.md tells what it is on a machine that is quiet
constexpr int kTries = 3;

// Lets the system's page cache go of the files in a folder.
void forgetPages(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const int descriptor = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
    ::close(descriptor);
  }
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

class TestRestore : public QObject {
  Q_OBJECT

  QTemporaryDir dir_;
  std::string path_;

  EngineOptions options(const char* folder) const {
    EngineOptions options;
    options.cache.budget = std::size_t{512} << 20;
    options.disk.folder.path = dir_.filePath(folder).toStdString();
    options.disk.folder.freeDisk = 0;
    options.disk.folder.openIndex = [](const std::string& path) { return storage::CacheIndex::open(path); };
    options.disk.closeTime = std::chrono::minutes(1);
    return options;
  }
  std::unique_ptr<EngineService> start(const EngineOptions& options) const {
    auto service = std::make_unique<EngineService>(options);
    Loading loading;
    service->loadModel(path_, {}, loading.sink());
    if (!loading.waitForEnd() || !loading.last<ModelInfo>()) qFatal("SmolLM2 cannot be loaded");
    return service;
  }
  static std::string story() {
    std::string text;
    for (int i = 0; i < 242; ++i)
      text += "The keeper wrote down the wind, the sea and ship number " + std::to_string(i) + ". ";
    return text + "What did he write?";
  }
  static GenerateRequest turn(const std::string& question) {
    GenerateRequest request;
    request.messages = {{"user", story()}};
    if (!question.empty()) {
      request.messages.push_back({"assistant", "The wind, the sea and the ships."});
      request.messages.push_back({"user", question});
    }
    request.maxTokens = 4;
    request.speculation = SpeculationOptions::off();
    request.conversation = 7;
    return request;
  }
  // The answer, its figures, and how long its first token took from submit.
  static std::string ask(EngineService& service, const GenerateRequest& what, GenerationStats& stats,
                         double& ms) {
    Answer answer;
    QElapsedTimer clock;
    clock.start();
    service.submit(what, answer.sink());
    if (!answer.waitFor<PieceEvent>(std::chrono::minutes(5))) qFatal("no answer");
    ms = static_cast<double>(clock.nsecsElapsed()) / 1e6;
    if (!answer.waitForEnd(std::chrono::minutes(5)) || !answer.last<FinishedEvent>()) qFatal("no answer");
    stats = answer.last<FinishedEvent>()->stats;
    return textOf(answer);
  }

 private slots:
  void initTestCase() {
    path_ = qEnvironmentVariable("TANDEM_MODELS").toStdString() + "/SmolLM2-135M-Instruct.Q4_1.gguf";
    QVERIFY2(QFileInfo::exists(QString::fromStdString(path_)),
             "SmolLM2 is not in the folder that TANDEM_MODELS names; ./test fetches it");
  }

  // The machine may be busy with other work: the best of a few tries counts.
  void theNextTurnAfterARestart() {
    const EngineOptions kept = options("texts");
    double resident = 1e9, restored = 1e9, coldMs = 0, ms = 0;
    GenerationStats stats;
    std::vector<std::string> answers;
    {
      const auto service = start(kept);
      ask(*service, turn({}), stats, ms);
      for (int i = 0; i < kTries; ++i) {
        answers.push_back(ask(*service, turn("And on day " + std::to_string(i) + "?"), stats, ms));
        QVERIFY(stats.cachedTokens > 3900);
        resident = std::min(resident, ms);
      }
    }
    for (int i = 0; i < kTries; ++i) {
      const auto service = start(kept);
      const std::string answer = ask(*service, turn("And on day " + std::to_string(i + 10) + "?"), stats, ms);
      QVERIFY2(stats.cachedTokens > 3900, qPrintable(QString::number(stats.cachedTokens)));
      restored = std::min(restored, ms);
      QCOMPARE(ask(*service, turn("And on day " + std::to_string(i) + "?"), stats, ms),
               answers[static_cast<std::size_t>(i)]);
      const CacheListing listing = listed(*service);
      QVERIFY(listing.diskTrouble.empty());
      QVERIFY(std::ranges::count(listing.texts, TextState::kUnusable, &CachedText::state) == 0);
      if (i > 0) continue;
      GenerateRequest cold = turn("And on day 10?");
      cold.cached = false;
      QCOMPARE(ask(*service, cold, stats, coldMs), answer);
    }
    const auto service = start(kept);
    forgetPages(kept.disk.folder.path);
    double storage = 0;
    ask(*service, turn("And on day 20?"), stats, storage);
    QVERIFY2(stats.cachedTokens > 3900, qPrintable(QString::number(stats.cachedTokens)));
    qInfo(
        "%d tokens; first token %.1f ms after submit from memory, %.1f ms from disk after a restart, "
        "%.1f ms where no file is in the page cache",
        stats.promptTokens, resident, restored, storage);
    QVERIFY(restored <= resident + std::max(kRestoreMs, 2 * resident));
    QVERIFY(restored < coldMs / 3);
  }

  // While an answer is decoded, texts of 2,000 tokens wait to be written.
  void writingLeavesDecodingItsTime() {
    EngineOptions kept = options("written");
    kept.disk.settle = std::chrono::milliseconds(0);
    auto engine = LoadedEngine::load(path_, {}, kept);
    QVERIFY(engine.ok());
    TokenStream random(49152, 3);
    const auto text = [&](int count) {
      std::vector<TokenId> tokens(static_cast<std::size_t>(count));
      std::ranges::generate(tokens, [&] { return random.next(); });
      return tokens;
    };
    Generation request;
    request.prompt = text(1100);
    request.maxTokens = 1;
    request.endAtEndTokens = false;
    request.speculation = SpeculationOptions::off();
    request.cache = (*engine)->cache().get();
    QVERIFY((*engine)->generator().run(request, {}).status.ok());
    const Sequence sequence = (*engine)->generator().sequence();
    DiskCache& disk = *(*engine)->cache()->disk();
    disk.flush();
    request.maxTokens = 400;
    std::vector<double> alone, writing;
    std::uint64_t written = 0;
    for (int i = 0; i < 5; ++i) {
      for (const bool writes : {false, true}) {
        disk.flush();
        std::uint64_t before = 0;
        for (const TextRowPtr& row : disk.rows())
          before += row->bytes;
        disk.enter();
        if (writes) disk.keep(text(sequence.length()), sequence, {}, 1, std::uint64_t{1} << 30);
        const auto outcome = (*engine)->generator().run(request, {});
        QVERIFY(outcome.status.ok());
        for (const TextRowPtr& row : disk.rows())
          written += writes ? row->bytes : 0;
        written -= writes ? before : 0;
        disk.leave();
        (writes ? writing : alone)
            .push_back(1000 * (outcome.stats.completionTokens - 1) / outcome.stats.decodeMs);
      }
    }
    qInfo("tokens a second: %.2f alone, %.2f while %.0f MiB were written", median(alone), median(writing),
          static_cast<double>(written) / (1 << 20));
    QVERIFY(median(writing) >= (1 - kWriteShare) * median(alone));
  }
};

}  // namespace tandem::test

QTEST_GUILESS_MAIN(tandem::test::TestRestore)
#include "test_restore.moc"
