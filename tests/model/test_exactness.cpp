// The engine's own checks on tiny models: they pass, and each planted fault makes one fail.
#include <QTemporaryDir>
#include <QtTest>

#include "engine/verify/checks.h"
#include "tests/gguf/model_copy.h"
#include "tests/gguf/tiny_models.h"
#include "tests/model/faulty_kernels.h"
#include "tests/model/quantized_tiny.h"

using namespace tandem;
using namespace tandem::test;

namespace {

std::string recipe(const char* name) {
  return std::string(TANDEM_TEST_DATA) + "/tiny-models/" + name + ".json";
}

VerifyOptions quick(const kernels::KernelSet& set) {
  VerifyOptions options;
  options.kernels = &set;
  options.otherSets = {&kernels::referenceKernels()};
  if (&set == &kernels::referenceKernels()) options.otherSets = otherKernelSets(set);
  options.threadCounts = {1, 3};
  options.tokens = 72;  // more than one tile
  options.kernelTokens = 72;
  options.generated = 32;
  options.sharedPasses = 12;
  options.largestBatch = 6;
  if (&set ==
      &kernels::referenceKernels()) {  // it takes its time; the sets are compared over a whole tile and more
    options.tokens = 34;
    options.rejectedRounds = 8;
    options.sharedPasses = 4;
    options.largestTree = 8;
    options.generated = 12;
    options.largestBatch = 4;
  }
  return options;
}

}  // namespace

class TestExactness : public QObject {
  Q_OBJECT

  std::shared_ptr<const Model> model(const std::string& path) {
    auto loaded = Model::load(path);
    if (!loaded.ok()) qFatal("%s", loaded.error().describe().c_str());
    return *loaded;
  }
  std::string path(const char* name) const { return (dir_.path() + "/" + name + ".gguf").toStdString(); }
  QTemporaryDir dir_;

 private slots:
  void initTestCase() {
    for (const char* name : kTinyModels)
      QVERIFY(writeTinyModel(recipe(name), path(name)).ok());
    QVERIFY(writeQuantizedTiny(path("llama"), path("quantized")).ok());
    QVERIFY(writeQuantizedTiny(path("qwen35moe"), path("quantizedHybrid")).ok());
    // A router that scores all experts alike.
    auto copy = ModelCopy::of(path("quantizedHybrid"));
    QVERIFY(copy.ok());
    for (const char* layer : {"blk.0.", "blk.1."}) {
      const std::string router = std::string(layer) + "ffn_gate_inp.weight";
      copy->setType(router, gguf::TensorType::kF32);
      copy->setData(router, std::vector<std::byte>(256 * 8 * sizeof(float)));
    }
    QVERIFY(copy->write(path("tied")).ok());
  }

  void checksPass_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : kTinyModels)
      QTest::newRow(name) << name;
    for (const char* name : {"quantized", "quantizedHybrid"})
      QTest::newRow(name) << name;
  }
  void checksPass() {
    QFETCH(QString, name);
    const auto tiny = model(path(name.toUtf8().constData()));
    for (const kernels::KernelSet* set : kernels::availableKernels()) {
      int checks = 0;
      const Status status = runChecks(tiny, quick(*set), [&](const CheckResult& result) {
        ++checks;
        QVERIFY2(result.passed, (std::string(set->name) + ": " + result.name + ": " + result.detail).c_str());
      });
      QVERIFY2(status.ok(), status.ok() ? "" : status.error().describe().c_str());
      QCOMPARE(checks, 15);  // without those of text
    }
  }

  void plantedFaultsAreCaught_data() {
    QTest::addColumn<int>("set");
    QTest::addColumn<int>("fault");
    const auto sets = kernels::availableKernels();
    for (std::size_t s = 0; s < sets.size(); ++s) {
      const auto faults = plantFaults(*sets[s], 128);
      for (std::size_t f = 0; f < faults.size(); ++f) {
        QTest::addRow("%s, rule %s, %s", sets[s]->name, faults[f].rule, faults[f].name) << int(s) << int(f);
      }
    }
  }
  void plantedFaultsAreCaught() {
    QFETCH(int, set);
    QFETCH(int, fault);
    const kernels::KernelSet& base = *kernels::availableKernels()[set];
    const auto faults = plantFaults(base, 128);
    VerifyOptions options = quick(faults[fault].kernels);
    options.otherSets = {&kernels::referenceKernels()};
    std::string failed;
    const std::string rule = faults[fault].rule;
    const char* subject = rule == "6" ? "quantizedHybrid" : rule == "7" ? "tied" : "quantized";
    const Status status = runChecks(model(path(subject)), options, [&](const CheckResult& result) {
      if (!result.passed) failed += result.name + "; ";
    });
    // A fault that makes numbers infinite is caught by the check for that.
    QVERIFY2(!failed.empty() || (!status.ok() && status.error().code == ErrorCode::kNonFinite),
             "nothing failed");
    qInfo("caught by: %s", failed.empty() ? "not finite" : failed.c_str());
  }
};

QTEST_APPLESS_MAIN(TestExactness)
#include "test_exactness.moc"
