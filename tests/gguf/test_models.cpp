// The test models themselves: the tiny ones are what the reference script writes, and each edit of a copy
// does what it says.
#include <QCryptographicHash>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "engine/gguf/file.h"
#include "tests/gguf/model_copy.h"
#include "tests/gguf/tiny_models.h"

namespace tandem::test {
namespace {

using gguf::encode;
using gguf::File;

std::string recipe(const char* name) {
  return std::string(TANDEM_TEST_DATA "/tiny-models/") + name + ".json";
}

QByteArray sha256(const std::string& path) {
  QFile file(QString::fromStdString(path));
  QCryptographicHash hash(QCryptographicHash::Sha256);
  return file.open(QIODevice::ReadOnly) && hash.addData(&file) ? hash.result().toHex() : QByteArray();
}

}  // namespace

class TestModels : public QObject {
  Q_OBJECT
 private slots:
  void initTestCase();
  void equalsTheReferenceScript_data();
  void equalsTheReferenceScript();
  void shapesWeightsByName();
  void refusesBadRecipes();
  void copyOfNothingIsTheOriginal();
  void editsTensors();
  void editsValues();
  void namesEditsThatFindNothing();

 private:
  std::string path(const char* name) const { return folder_.filePath(name).toStdString(); }
  // The original with one edit, opened again; nullptr (and a message) when something failed.
  template <class Edit>
  std::shared_ptr<const File> edited(Edit edit);

  QTemporaryDir folder_;
  std::string original_;
};

void TestModels::initTestCase() {
  QVERIFY(folder_.isValid());
  original_ = path("llama.gguf");
  QVERIFY(writeTinyModel(recipe("llama"), original_).ok());
}

// SHA-256 of the files that the reference script wrote with version 0.19 of the package gguf.
void TestModels::equalsTheReferenceScript_data() {
  QTest::addColumn<QByteArray>("name");
  QTest::addColumn<quint64>("seed");
  QTest::addColumn<QByteArray>("hash");
  QTest::newRow("llama") << QByteArray("llama") << quint64{1}
                         << QByteArray("3e61a25eea1c2d46d29733763ebe3d78d5147f9648d9b240a9402c1e0c7837d1");
  QTest::newRow("llama, seed 7") << QByteArray("llama") << quint64{7}
                                 << QByteArray(
                                        "a7a47d5b16faade1cdb345cb304f5ed84adadea7f218861791fb30c5c8d6379f");
  QTest::newRow("gemma3") << QByteArray("gemma3") << quint64{1}
                          << QByteArray("15909858ab3b96c21f1de6c307f32dcea474c886a71ed200e883ae681787c599");
}

void TestModels::equalsTheReferenceScript() {
  QFETCH(QByteArray, name);
  QFETCH(quint64, seed);
  QFETCH(QByteArray, hash);
  const Status status = writeTinyModel(recipe(name.constData()), path("model.gguf"), seed);
  QVERIFY2(status.ok(), status.ok() ? "" : status.error().describe().c_str());
  QCOMPARE(sha256(path("model.gguf")), hash);
}

void TestModels::shapesWeightsByName() {
  const auto range = [](const char* name, float low, float high) {
    const std::vector<float> weights = tinyWeights(name, 1000, 1);
    const auto [least, most] = std::minmax_element(weights.begin(), weights.end());
    return *least >= low && *most <= high && *most - *least > 0.5f * (high - low);
  };
  constexpr float kWidth = 0.1734f;
  QVERIFY(range("blk.0.attn_q.weight", -kWidth, kWidth));
  QVERIFY(range("blk.0.attn_norm.weight", 1 - kWidth, 1 + kWidth));
  QVERIFY(range("blk.0.attn_norm.bias", -kWidth, kWidth));
  QVERIFY(range("rope_freqs.weight", 1, 1 + 4 * kWidth));
  QVERIFY(range("blk.0.ssm_a", -0.5f - 10 * kWidth, -0.5f));
  QVERIFY(range("blk.0.ssm_dt.bias", -3 * kWidth, 3 * kWidth));
  QVERIFY(range("blk.0.attn_sinks.weight", -10 * kWidth, 10 * kWidth));
}

void TestModels::refusesBadRecipes() {
  const Status missing = writeTinyModel(recipe("absent"), path("model.gguf"));
  QVERIFY(!missing.ok());
  QVERIFY(missing.error().code == ErrorCode::kNotFound);
  QFile bad(folder_.filePath("bad.json"));
  QVERIFY(bad.open(QIODevice::WriteOnly));
  bad.write("{\"architecture\": 3}");
  bad.close();
  const Status malformed = writeTinyModel(path("bad.json"), path("model.gguf"));
  QVERIFY(!malformed.ok());
  QVERIFY(malformed.error().code == ErrorCode::kInvalidArgument);
}

template <class Edit>
std::shared_ptr<const File> TestModels::edited(Edit edit) {
  auto copy = ModelCopy::of(original_);
  if (!copy) return nullptr;
  edit(*copy);
  const Status status = copy->write(path("edited.gguf"));
  if (!status) qWarning("%s", status.error().describe().c_str());
  if (!status) return nullptr;
  auto file = File::open(path("edited.gguf"));
  return file ? file.value() : nullptr;
}

void TestModels::copyOfNothingIsTheOriginal() {
  QVERIFY(edited([](ModelCopy&) {}));
  QCOMPARE(sha256(path("edited.gguf")), sha256(original_));
}

void TestModels::editsTensors() {
  const char* kName = "blk.1.attn_q.weight";
  const auto original = File::open(original_);
  QVERIFY(original.ok());
  const gguf::TensorInfo& before = *(*original)->findTensor(kName);

  const auto dropped = edited([&](ModelCopy& copy) { copy.dropTensor(kName); });
  QVERIFY(dropped);
  QVERIFY(dropped->findTensor(kName) == nullptr);
  QCOMPARE(dropped->tensors().size(), (*original)->tensors().size() - 1);

  const auto renamed = edited([&](ModelCopy& copy) { copy.renameTensor(kName, "other"); });
  QVERIFY(renamed);
  QVERIFY(renamed->findTensor(kName) == nullptr && renamed->findTensor("other") != nullptr);

  const auto reshaped = edited([&](ModelCopy& copy) { copy.setShape(kName, {256, 300}); });
  QVERIFY(reshaped);
  const gguf::TensorInfo& longer = *reshaped->findTensor(kName);
  QVERIFY((longer.dims == std::vector<std::uint64_t>{256, 300}));
  const auto oldData = (*original)->data(before), newData = reshaped->data(longer);
  QVERIFY(std::equal(oldData.begin(), oldData.end(), newData.begin()));
  QVERIFY(newData.back() == std::byte{0});

  const auto retyped = edited([&](ModelCopy& copy) { copy.setType(kName, gguf::TensorType::kQ8_0); });
  QVERIFY(retyped);
  QCOMPARE(retyped->findTensor(kName)->bytes, before.elements / 32 * 34);

  const std::vector<std::byte> ones(before.bytes, std::byte{1});
  const auto filled = edited([&](ModelCopy& copy) { copy.setData(kName, ones); });
  QVERIFY(filled);
  const auto data = filled->data(*filled->findTensor(kName));
  QVERIFY(std::equal(data.begin(), data.end(), ones.begin(), ones.end()));
}

void TestModels::editsValues() {
  const auto changed =
      edited([](ModelCopy& copy) { copy.setValue("llama.block_count", encode(std::uint32_t{9})); });
  QVERIFY(changed);
  QCOMPARE(**changed->getUint("llama.block_count"), std::uint64_t{9});
  const auto added =
      edited([](ModelCopy& copy) { copy.setValue("new.key", encode(std::string_view("new"))); });
  QVERIFY(added);
  QVERIFY(**added->getString("new.key") == "new");
  const auto dropped = edited([](ModelCopy& copy) { copy.dropKey("llama.block_count"); });
  QVERIFY(dropped);
  QVERIFY(dropped->find("llama.block_count") == nullptr);
}

void TestModels::namesEditsThatFindNothing() {
  auto copy = ModelCopy::of(original_);
  QVERIFY(copy.ok());
  copy->dropTensor("absent");
  copy->dropKey("absent too");
  const Status status = copy->write(path("edited.gguf"));
  QVERIFY(!status.ok());
  QVERIFY(status.error().code == ErrorCode::kNotFound);
  QCOMPARE(QString::fromStdString(status.error().field), QString("absent"));
}

}  // namespace tandem::test

QTEST_APPLESS_MAIN(tandem::test::TestModels)
#include "test_models.moc"
