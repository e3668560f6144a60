// A decoder may change its number of threads from pass to pass, and the logits keep their bits.
#include <QTemporaryDir>
#include <QtTest>
#include <atomic>
#include <set>

#include "engine/model/decoder.h"
#include "tests/gguf/tiny_models.h"
#include "tests/model/quantized_tiny.h"

using namespace tandem;
using namespace tandem::test;

namespace {

constexpr int kPasses = 100;

// What the counting kernels have seen: calls of the matrix product since it was set to 0.
std::atomic<int> calls{0};

void counting(const kernels::PackedMatrix& w, const kernels::QuantizedRows& x, int rows, int groupBegin,
              int groupEnd, float* out, std::size_t outStride) {
  ++calls;
  kernels::bestKernels().matmulQuantized(w, x, rows, groupBegin, groupEnd, out, outStride);
}

// The planted fault: a column depends on where the split between the threads lies.
void dependingOnTheSplit(const kernels::PackedMatrix& w, const kernels::QuantizedRows& x, int rows,
                         int groupBegin, int groupEnd, float* out, std::size_t outStride) {
  counting(w, x, rows, groupBegin, groupEnd, out, outStride);
  out[groupBegin * kernels::kGroup] *= 1.0f + 0x1p-23f;
}

// A clock by which every pass of the first half takes 100 ms, and then 300.
MachineProbe slowingMachine() {
  return {[now = 0.0, reads = 0]() mutable { return now += ++reads < kPasses ? 100 : 300; },
          [] { return 3; }};
}

struct Run {
  std::vector<std::vector<float>> logits;  // of every pass
  std::set<int> callsOfPasses;
};

}  // namespace

class TestThreadChanges : public QObject {
  Q_OBJECT

  Run run(const kernels::KernelSet& set, const DecoderOptions& options) {
    auto decoder = Decoder::create(model_, options);
    if (!decoder.ok()) qFatal("%s", decoder.error().describe().c_str());
    Sequence sequence = (*decoder)->newSequence();
    Run run;
    for (int i = 0; i < kPasses; ++i) {
      const TokenId token = i * 7 % model_->config().vocabulary;
      calls = 0;
      if (!(*decoder)->read(sequence, {&token, 1}).ok()) qFatal("%s: a pass failed", set.name);
      run.callsOfPasses.insert(calls);
      const auto logits = (*decoder)->logits(0);
      run.logits.emplace_back(logits.begin(), logits.end());
    }
    return run;
  }

  std::shared_ptr<const Model> model_;

 private slots:
  void initTestCase() {
    QTemporaryDir dir;
    const std::string plain = dir.filePath("plain").toStdString(), path = dir.filePath("q").toStdString();
    QVERIFY(writeTinyModel(TANDEM_TEST_DATA "/tiny-models/llama.json", plain).ok());
    QVERIFY(writeQuantizedTiny(plain, path).ok());
    auto model = Model::load(path);
    QVERIFY(model.ok());
    model_ = *model;
  }

  void theBitsStayWhenThePassesBecomeSlow() {
    kernels::KernelSet set = kernels::bestKernels();
    set.matmulQuantized = counting;
    const Run one = run(set, {.kernels = &set, .threads = 1});
    QCOMPARE(int(one.callsOfPasses.size()), 1);
    const Run changing = run(set, {.kernels = &set, .machine = slowingMachine()});
    QVERIFY(changing.callsOfPasses.size() > 1);  // other numbers of threads were tried
    QVERIFY(changing.logits == one.logits);

    set.matmulQuantized = dependingOnTheSplit;
    const Run faulty = run(set, {.kernels = &set, .threads = 1});
    QVERIFY(run(set, {.kernels = &set, .machine = slowingMachine()}).logits != faulty.logits);
  }

  void aNumberThatWasAskedForStays() {
    kernels::KernelSet set = kernels::bestKernels();
    set.matmulQuantized = counting;
    const Run two = run(set, {.kernels = &set, .threads = 2, .machine = slowingMachine()});
    QCOMPARE(int(two.callsOfPasses.size()), 1);
  }
};

QTEST_APPLESS_MAIN(TestThreadChanges)
#include "test_thread_changes.moc"
