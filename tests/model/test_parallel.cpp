// Passes that several sequences share: every sequence gets the bits that it gets alone, and the check of that
// catches a row that looks at its neighbour's sequence and a commit into the wrong one.
#include <QTemporaryDir>
#include <QtTest>
#include <deque>

#include "engine/verify/parallel_checks.h"
#include "tests/gguf/tiny_models.h"
#include "tests/model/quantized_tiny.h"

using namespace tandem;
using namespace tandem::test;

namespace {

constexpr int kPasses = 16;

std::vector<TokenId> textOf(const Model& model) {
  std::vector<TokenId> text;
  for (int i = 0; i < 128; ++i)
    text.push_back(i * 37 % model.config().vocabulary);
  return text;
}

}  // namespace

class TestParallel : public QObject {
  Q_OBJECT

  std::string path(const char* name) const { return (dir_.path() + "/" + name + ".gguf").toStdString(); }
  std::unique_ptr<Decoder> decoder(const char* name, int threads) {
    auto model = Model::load(path(name));
    if (!model.ok()) qFatal("%s", model.error().describe().c_str());
    auto decoder = Decoder::create(*model, {.threads = threads});
    if (!decoder.ok()) qFatal("%s", decoder.error().describe().c_str());
    return std::move(*decoder);
  }
  static CheckResult check(Decoder& decoder, const JointPass& joint) {
    CheckResult result;
    result.passed = true;
    const Status status =
        checkParallel(decoder, textOf(decoder.model()), kPasses, 16, nullptr, result, joint);
    if (!status.ok()) qFatal("%s", status.error().describe().c_str());
    result.passed = result.passed && result.difference.none();
    return result;
  }
  QTemporaryDir dir_;

 private slots:
  void initTestCase() {
    for (const char* name : kTinyModels) {
      const std::string recipe = std::string(TANDEM_TEST_DATA "/tiny-models/") + name + ".json";
      QVERIFY(writeTinyModel(recipe, path(name)).ok());
    }
    QVERIFY(writeTinyModel(TANDEM_TEST_DATA "/tiny-models/qwen35-nextn.json", path("qwen35-nextn")).ok());
    QVERIFY(writeQuantizedTiny(path("llama"), path("quantized")).ok());
    QVERIFY(writeQuantizedTiny(path("qwen35moe"), path("quantizedHybrid")).ok());
  }

  void eachSequenceGetsItsOwnBits_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : kTinyModels)
      QTest::newRow(name) << name;
    for (const char* name : {"quantized", "quantizedHybrid", "qwen35-nextn"})
      QTest::newRow(name) << name;
  }
  void eachSequenceGetsItsOwnBits() {
    QFETCH(QString, name);
    const auto decoder =
        this->decoder(name.toUtf8().constData(), name == "qwen35" || name == "gemma3" ? 2 : 1);
    const CheckResult result = check(*decoder, jointPassOf(*decoder, nullptr));
    QVERIFY(result.difference.compared > 10'000);
    QVERIFY2(result.passed, result.detail.c_str());
  }

  // One fault in sixteen passes is enough for the check.
  void plantedFaultsAreCaught_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"llama", "gemma3", "qwen35", "qwen3moe"})
      QTest::newRow(name) << name;
  }
  void plantedFaultsAreCaught() {
    QFETCH(QString, name);
    const auto decoder = this->decoder(name.toUtf8().constData(), 1);
    const JointPass right = jointPassOf(*decoder, nullptr);
    int pass = 0;

    // The second part's rows look at the first one's sequence.
    JointPass looksAside = right;
    looksAside.forward = [&](std::span<const PassPart> parts) {
      if (++pass != kPasses / 2) return right.forward(parts);
      std::vector<PassPart> swapped;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        Batch batch = parts[i].batch;
        const Sequence& other = parts[i == 1 ? 0 : i].sequence;
        for (BatchRow& row : batch.rows)
          row.position += other.length() - parts[i].sequence.length();
        batches_.push_back(std::move(batch));
        swapped.push_back({other, batches_.back(), parts[i].logitRows});
      }
      return right.forward(swapped);
    };
    QVERIFY(!check(*decoder, looksAside).passed);

    // The first part's rows are committed for the second one.
    pass = 0;
    JointPass commitsAside = right;
    commitsAside.forward = [&](std::span<const PassPart> parts) {
      ++pass;
      return right.forward(parts);
    };
    commitsAside.commit = [&](Sequence& sequence, std::span<const int> rows, int part) {
      const bool wrong = pass == kPasses / 2 && part == 1;
      const int row = 0;
      return wrong ? right.commit(sequence, {&row, 1}, 0) : right.commit(sequence, rows, part);
    };
    QVERIFY(!check(*decoder, commitsAside).passed);

    // A commit loses its last row.
    int commits = 0;
    JointPass losesRow = right;
    losesRow.commit = [&](Sequence& sequence, std::span<const int> rows, int part) {
      return right.commit(sequence, ++commits == kPasses ? rows.first(rows.size() - 1) : rows, part);
    };
    QVERIFY(!check(*decoder, losesRow).passed);
  }

 private:
  std::deque<Batch> batches_;
};

QTEST_APPLESS_MAIN(TestParallel)
#include "test_parallel.moc"
