// Logits of the tiny models against the recorded ones (F32 cache).
#include <QTemporaryDir>
#include <QtTest>
#include <fstream>
#include <numeric>

#include "engine/model/decoder.h"
#include "tests/gguf/tiny_models.h"

using namespace tandem;
using namespace tandem::test;

class TestTinyLogits : public QObject {
  Q_OBJECT

 private slots:
  void agreeWithTheRecordedOnes_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : kTinyModels)
      QTest::newRow(name) << name;
  }
  void agreeWithTheRecordedOnes() {
    QFETCH(QString, name);
    const std::string folder = std::string(TANDEM_TEST_DATA) + "/tiny-models/";
    QTemporaryDir dir;
    const std::string path = (dir.path() + "/model.gguf").toStdString();
    QVERIFY(writeTinyModel(folder + name.toStdString() + ".json", path).ok());
    auto model = Model::load(path);
    QVERIFY2(model.ok(), model.ok() ? "" : model.error().describe().c_str());

    std::vector<TokenId> tokens;
    std::ifstream ids(folder + "tokens48.txt");
    for (TokenId id; ids >> id;)
      tokens.push_back(id);
    QCOMPARE(int(tokens.size()), 48);
    std::vector<float> expected(48 * 128);
    std::ifstream recorded(folder + name.toStdString() + ".f32", std::ios::binary);
    QVERIFY(bool(recorded.read(reinterpret_cast<char*>(expected.data()), expected.size() * 4)));

    auto decoder = Decoder::create(*model, {.threads = 2, .cacheType = kernels::CacheType::kF32});
    QVERIFY(decoder.ok());
    std::vector<int> all(48);
    std::iota(all.begin(), all.end(), 0);
    QVERIFY((*decoder)->forward((*decoder)->newSequence(), Batch::chain(tokens, 0), all).ok());
    double error = 0, size = 0;
    for (int i = 0; i < 48; ++i) {
      const auto logits = (*decoder)->logits(i);
      for (int j = 0; j < 128; ++j) {
        const double e = expected[i * 128 + j], d = logits[j] - e;
        error += d * d;
        size += e * e;
      }
    }
    qInfo("normalised mean squared error %.3g", error / size);
    QVERIFY(error / size < 1e-6);
  }
};

QTEST_APPLESS_MAIN(TestTinyLogits)
#include "test_tiny_logits.moc"
