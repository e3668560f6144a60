// What loading a real model takes: memory is bounded by the model's size, on the first load and on those from
// the cache; the times are told (docs/model-loading.md).
#include <sys/wait.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <QtTest>
#include <cstdio>
#include <fstream>

#include "engine/base/stopwatch.h"
#include "engine/model/decoder.h"

using namespace tandem;

namespace {

constexpr double kMiB = 1 << 20;

// The most memory this process has had, in bytes.
double peakMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) * 1024;
  }
  return 0;
}

// Loads a model in this process; whether that kept to its memory.
bool loadOnce(const std::string& path, const std::string& cache, bool expectKept) {
  const double before = peakMemory();
  Stopwatch watch;
  const auto model = Model::load(path, {.weightCache = {.folder = cache}});
  const double loaded = watch.lap(), afterLoad = peakMemory();
  if (!model.ok()) return std::fprintf(stderr, "%s\n", model.error().describe().c_str()), false;
  const auto decoder = Decoder::create(*model, {});
  if (!decoder.ok() || (*model)->weightsWereKept() != expectKept) return false;
  const auto size = static_cast<double>((*model)->file().size());
  const auto activations = static_cast<double>(Model::plan((*model)->file(), (*model)->config()).activations);
  const double peak = peakMemory();
  std::printf(
      "%s: load %.0f ms, decoder %.0f ms; memory %.1f MiB before, %.1f loaded, %.1f with the decoder, "
      "%.2f of the file besides activations\n",
      expectKept ? "kept" : "packed", loaded, watch.lap(), before / kMiB, afterLoad / kMiB, peak / kMiB,
      (peak - before - activations) / size);
  std::fflush(stdout);
  return before > 0 && peak - before <= 1.15 * size + activations;
}

}  // namespace

class TestLoadCost : public QObject {
  Q_OBJECT
 private slots:
  void memoryStaysBelowTheModelsSize_data() {
    QTest::addColumn<QString>("file");
    QTest::newRow("SmolLM2") << "SmolLM2-135M-Instruct.Q4_1.gguf";
    QTest::newRow("Gemma 3") << "gemma-3-270m-Q4_K_M.gguf";
  }
  void memoryStaysBelowTheModelsSize() {
    QFETCH(QString, file);
    const std::string path = (qEnvironmentVariable("TANDEM_MODELS") + "/" + file).toStdString();
    const QTemporaryDir dir;
    const std::string cache = dir.path().toStdString(), none;
    for (const auto& [folder, kept] :
         {std::pair(none, false), {cache, false}, {cache, true}, {cache, true}}) {
      const pid_t child = ::fork();
      if (child == 0) ::_exit(loadOnce(path, folder, kept) ? 0 : 1);
      int status = 0;
      ::waitpid(child, &status, 0);
      QCOMPARE(status, 0);
    }
  }
};

QTEST_GUILESS_MAIN(TestLoadCost)
#include "test_load_cost.moc"
