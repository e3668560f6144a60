// What a pass reads and multiplies, against counts by hand of the tiny models; and that the measured peaks
// are compared with it rightly.
#include <QTemporaryDir>
#include <QtTest>

#include "engine/measure/peaks.h"
#include "engine/measure/work.h"
#include "tests/gguf/tiny_models.h"

using namespace tandem;
using namespace tandem::test;

namespace {

// All tiny models: dim 256, feed-forward 384, vocabulary 128; F32, so a weight has four bytes. llama, gemma3
// and qwen3moe have 3 layers of 4 heads and 2 KV heads of 64 elements.
constexpr double kAttention = 256 * 256 + 2 * 256 * 128 + 256 * 256;
constexpr double kFeedForward = 3 * 256 * 384;
constexpr double kHead = 256 * 128;
constexpr double kPosition = 2 * 2 * 64 * 2;  // bytes of keys and values of a layer: 2 KV heads, 64 F16

KvLayout layoutOf(const ModelConfig& c) {
  return {c.cachedLayers(), c.kvHeads, c.headDim, kernels::CacheType::kF16};
}

}  // namespace

class TestWork : public QObject {
  Q_OBJECT

  QTemporaryDir dir_;

  std::shared_ptr<const Model> tiny(const std::string& name) {
    const std::string path = (dir_.path().toStdString() + "/" + name + ".gguf");
    if (!writeTinyModel(std::string(TANDEM_TEST_DATA) + "/tiny-models/" + name + ".json", path).ok())
      return nullptr;
    auto model = Model::load(path);
    return model.ok() ? *model : nullptr;
  }

 private slots:
  void aDenseModelIsCounted() {
    const auto model = tiny("llama");
    QVERIFY(model);
    const measure::Work layers = measure::layersWork(*model, 5), head = measure::headWork(*model, 2);
    QCOMPARE(layers.fp32, 5 * 3 * (kAttention + kFeedForward));
    QCOMPARE(layers.int8, 0.0);
    QCOMPARE(layers.bytes, 4 * 3 * (kAttention + kFeedForward));  // once for all rows
    QCOMPARE(head.fp32, 2 * kHead);
    QCOMPARE(head.bytes, 4 * kHead);
    QCOMPARE(measure::headWork(*model, 0).bytes, 0.0);  // no row needs it
    QCOMPARE(layers.bytes + head.bytes, static_cast<double>(model->weights().bytes));
  }

  void keysAndValuesAreThoseThatARowSees() {
    const auto llama = tiny("llama"), gemma = tiny("gemma3");
    QVERIFY(llama && gemma);
    const KvLayout layout = layoutOf(llama->config());
    QCOMPARE(measure::contextBytes(llama->config(), layout, 0), 0.0);
    QCOMPARE(measure::contextBytes(llama->config(), layout, 100), 3 * 100 * kPosition);
    // Of three layers the first and the last see a window of 32, the row's own key included.
    QCOMPARE(measure::contextBytes(gemma->config(), layout, 100), (31 + 100 + 31) * kPosition);
    QCOMPARE(measure::contextBytes(gemma->config(), layout, 20), 3 * 20 * kPosition);
  }

  void aMixtureReadsTheExpertsOfARow() {
    const auto model = tiny("qwen3moe");  // 2 of 8 experts of 128
    QVERIFY(model);
    constexpr double kLayer = kAttention + 256 * 8 + 2 * 3 * 256 * 128;
    QCOMPARE(measure::layersWork(*model, 1).multiplyAdds(), 3 * kLayer);
    QCOMPARE(measure::layersWork(*model, 1).bytes, 4 * 3 * kLayer);
  }

  void aRecurrentLayerReadsItsState() {
    const auto model = tiny("qwen35");  // one recurrent layer of 2 heads of 128, one with attention
    QVERIFY(model);
    QCOMPARE(model->config().recurrentLayers(), 1);
    const auto matrices = measure::matricesOf(model->config(), model->weights().layers[0]);
    double products = 0, bytes = 0;
    for (const kernels::PackedMatrix* w : matrices) {
      products += static_cast<double>(w->n()) * w->k();
      bytes += static_cast<double>(w->bytes());
    }
    constexpr double kWide = 256 * 768 + 256 * 256 + 256 * 256 + kFeedForward;
    QCOMPARE(products, kWide + 2 * 2 * 256);
    QCOMPARE(bytes, 4 * (kWide + 2 * 8 * 256));  // two columns take the room of eight
    const double state = 4 * (3 * 768 + 2 * 128 * 128), position = 2 * 2 * 128 * 2;
    QCOMPARE(measure::contextBytes(model->config(), layoutOf(model->config()), 10), state + 10 * position);
  }

  void passesAddUp() {
    const auto model = tiny("llama");
    QVERIFY(model);
    const KvLayout layout = layoutOf(model->config());
    constexpr double kLayers = 3 * (kAttention + kFeedForward);
    // 70 tokens in passes of 32, 32 and 6: the weights are read three times, the head once; the passes look
    // back at 0, 32 and 64 positions.
    const measure::Work prefill = measure::prefillWork(*model, layout, 70, 32);
    QCOMPARE(prefill.fp32, 70 * kLayers + kHead);
    QCOMPARE(prefill.bytes, 4 * (3 * kLayers + kHead) + 3 * 96 * kPosition);
    const measure::Work decode = measure::decodeWork(*model, layout, 10, 3);
    QCOMPARE(decode.fp32, 3 * (kLayers + kHead));
    QCOMPARE(decode.bytes, 3 * 4 * (kLayers + kHead) + 3 * (10 + 11 + 12) * kPosition);
  }

  void sharesAreOfThePeakThatBinds() {
    measure::Peaks peaks;
    peaks.memory.perSecond = 10e9;
    peaks.model.perSecond = 8e9;
    peaks.int8.perSecond = 100e9;
    peaks.fp32.perSecond = 50e9;
    QVERIFY(!peaks.modelBinds());
    const measure::Work work{.int8 = 2e9, .fp32 = 1e9, .bytes = 5e8};
    measure::Shares shares = measure::sharesOf(work, 100, peaks);  // 5 GB/s; 20 + 20 ms of products
    QCOMPARE(shares.read, 0.5);
    QCOMPARE(shares.compute, 0.4);
    QVERIFY(!shares.impossible());
    peaks.model.perSecond = 20e9;
    QVERIFY(peaks.modelBinds());
    QCOMPARE(measure::sharesOf(work, 100, peaks).read, 0.25);
    QVERIFY(measure::sharesOf(work, 24, peaks).impossible());   // reads above its peak
    QVERIFY(measure::sharesOf(work, 39, peaks).impossible());   // multiplies above its peak
    QVERIFY(!measure::sharesOf(work, 41, peaks).impossible());  // 98 %
  }
};

QTEST_GUILESS_MAIN(TestWork)
#include "test_work.moc"
