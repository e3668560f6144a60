// What the writer writes comes back from the reader; what the reader would refuse is not written.
#include <sys/resource.h>

#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <csignal>

#include "engine/gguf/writer.h"

namespace tandem::test {
namespace {

using gguf::encode;
using gguf::File;
using gguf::TensorType;
using gguf::Writer;

gguf::TensorSource source(std::string_view bytes) {
  return [bytes]() -> Result<std::span<const std::byte>> {
    return std::span<const std::byte>(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
  };
}

template <class T>
gguf::EncodedValue arrayOf(std::initializer_list<T> values) {
  const std::vector<T> elements(values);
  return gguf::encodeArray(std::span<const T>(elements));
}

// Every type a value can have.
void addAllKinds(Writer& writer) {
  writer.add("u8", encode(std::uint8_t{200}));
  writer.add("i8", encode(std::int8_t{-100}));
  writer.add("u16", encode(std::uint16_t{60'000}));
  writer.add("i16", encode(std::int16_t{-30'000}));
  writer.add("u32", encode(std::uint32_t{4'000'000'000}));
  writer.add("i32", encode(std::int32_t{-2'000'000'000}));
  writer.add("f32", encode(1.5f));
  writer.add("bool", encode(true));
  writer.add("string", encode(std::string_view("text")));
  writer.add("u64", encode(~std::uint64_t{0}));
  writer.add("i64", encode(std::int64_t{-5}));
  writer.add("f64", encode(2.25));
  writer.add("a.u8", arrayOf<std::uint8_t>({1, 2}));
  writer.add("a.i8", arrayOf<std::int8_t>({-1, 2}));
  writer.add("a.u16", arrayOf<std::uint16_t>({1, 65'535}));
  writer.add("a.i16", arrayOf<std::int16_t>({-1, 2}));
  writer.add("a.u32", arrayOf<std::uint32_t>({1, 2}));
  writer.add("a.i32", arrayOf<std::int32_t>({-1, 2}));
  writer.add("a.f32", arrayOf<float>({0.5f}));
  writer.add("a.bool", gguf::encodeArray(gguf::ValueType::kBool, 2, {"\0\1", 2}));
  const std::vector<std::string_view> words = {"one", "", "three"};
  writer.add("a.string", gguf::encodeStrings(words));
  writer.add("a.u64", arrayOf<std::uint64_t>({1, 2}));
  writer.add("a.i64", arrayOf<std::int64_t>({-1, 2}));
  writer.add("a.f64", arrayOf<double>({0.25, -4}));
}

QByteArray contentOf(const std::string& path) {
  QFile file(QString::fromStdString(path));
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

}  // namespace

class TestWriter : public QObject {
  Q_OBJECT
 private slots:
  void init() {
    QVERIFY(folder_.isValid());
    path_ = folder_.filePath("model.gguf").toStdString();
  }
  void roundTrip();
  void copiesOfEntriesAreEqual();
  void keepsTheAlignment();
  void refusesWhatTheReaderRefuses_data();
  void refusesWhatTheReaderRefuses();
  void leavesNothingBehindWhenASourceFails();
  void leavesNothingBehindWhenTheDiskIsFull();

 private:
  QStringList namesInFolder() const { return QDir(folder_.path()).entryList(QDir::Files); }

  QTemporaryDir folder_;
  std::string path_;
};

void TestWriter::roundTrip() {
  const std::string floats(24, 'f'), blocks(36, 'q');
  Writer writer;
  addAllKinds(writer);
  writer.addTensor("floats", TensorType::kF32, {3, 2}, source(floats));
  writer.addTensor("blocks", TensorType::kQ4_0, {32, 1, 2}, source(blocks));
  const Status written = writer.write(path_);
  QVERIFY2(written.ok(), written.ok() ? "" : written.error().describe().c_str());
  const auto file = File::open(path_);
  QVERIFY(file.ok());
  QCOMPARE((*file)->version(), std::uint32_t{3});
  QCOMPARE((*file)->metadata().size(), std::size_t{24});
  QCOMPARE(**(*file)->getUint("u32"), std::uint64_t{4'000'000'000});
  QCOMPARE(std::get<std::int64_t>((*file)->find("i64")->value), std::int64_t{-5});
  QCOMPARE(**(*file)->getFloat("f32"), 1.5);
  QVERIFY(**(*file)->getString("string") == "text");
  QVERIFY((*(*file)->getArray("a.string"))->strings[2] == "three");
  QCOMPARE((*(*file)->getArray("a.f64"))->load<double>(1), -4.0);
  const gguf::TensorInfo* second = (*file)->findTensor("blocks");
  QVERIFY(second != nullptr);
  QVERIFY((second->dims == std::vector<std::uint64_t>{32, 1, 2}));
  QCOMPARE(second->bytes, std::uint64_t{36});
  QCOMPARE(static_cast<char>((*file)->data(*second)[35]), 'q');
  QCOMPARE(static_cast<char>((*file)->data((*file)->tensors()[0])[23]), 'f');
  QCOMPARE((*file)->size() % 32, std::uint64_t{0});
}

void TestWriter::copiesOfEntriesAreEqual() {
  Writer writer;
  addAllKinds(writer);
  QVERIFY(writer.write(path_).ok());
  const auto file = File::open(path_);
  QVERIFY(file.ok());
  Writer copy;
  for (const gguf::MetadataEntry& entry : (*file)->metadata())
    copy.add(entry.key, encode(entry));
  const std::string copyPath = folder_.filePath("copy.gguf").toStdString();
  QVERIFY(copy.write(copyPath).ok());
  QVERIFY(!contentOf(path_).isEmpty());
  QCOMPARE(contentOf(copyPath), contentOf(path_));
  QVERIFY(QFile::remove(QString::fromStdString(copyPath)));
}

void TestWriter::keepsTheAlignment() {
  Writer writer;
  writer.add("general.alignment", encode(std::uint32_t{256}));
  writer.addTensor("a", TensorType::kI8, {1}, source("a"));
  writer.addTensor("b", TensorType::kI8, {1}, source("b"));
  QVERIFY(writer.write(path_).ok());
  const auto file = File::open(path_);
  QVERIFY(file.ok());
  QCOMPARE((*file)->alignment(), std::uint32_t{256});
  QCOMPARE((*file)->findTensor("b")->offset, (*file)->findTensor("a")->offset + 256);
}

void TestWriter::refusesWhatTheReaderRefuses_data() {
  QTest::addColumn<QString>("fault");
  QTest::addColumn<QString>("field");
  QTest::newRow("duplicate key") << "key"
                                 << "twin";
  QTest::newRow("duplicate tensor") << "tensor"
                                    << "twin";
  QTest::newRow("empty key") << "empty"
                             << "";
  QTest::newRow("no dimensions") << "scalar"
                                 << "t";
  QTest::newRow("zero dimension") << "zero"
                                  << "t";
  QTest::newRow("row that is no whole block") << "block"
                                              << "t";
  QTest::newRow("data of another size") << "data"
                                        << "t";
  QTest::newRow("alignment 3") << "alignment"
                               << "general.alignment";
  QTest::newRow("alignment of another type") << "type"
                                             << "general.alignment";
}

void TestWriter::refusesWhatTheReaderRefuses() {
  QFETCH(QString, fault);
  QFETCH(QString, field);
  Writer writer;
  if (fault == "key" || fault == "empty") {
    const std::string key = fault == "key" ? "twin" : "";
    writer.add(key, encode(std::uint8_t{1}));
    writer.add(key, encode(std::uint8_t{2}));
  }
  if (fault == "tensor") {
    writer.addTensor("twin", TensorType::kI8, {1}, source("a"));
    writer.addTensor("twin", TensorType::kI8, {1}, source("b"));
  }
  if (fault == "scalar") writer.addTensor("t", TensorType::kI8, {}, source("a"));
  if (fault == "zero") writer.addTensor("t", TensorType::kI8, {1, 0}, source(""));
  if (fault == "block") writer.addTensor("t", TensorType::kQ8_0, {33}, source("a"));
  if (fault == "data") writer.addTensor("t", TensorType::kI8, {2}, source("a"));
  if (fault == "alignment") writer.add("general.alignment", encode(std::uint32_t{3}));
  if (fault == "type") writer.add("general.alignment", encode(std::uint64_t{32}));
  QFile::remove(QString::fromStdString(path_));
  const Status status = writer.write(path_);
  QVERIFY(!status.ok());
  QVERIFY(status.error().code == ErrorCode::kInvalidArgument);
  QCOMPARE(QString::fromStdString(status.error().field), field);
  QVERIFY(namesInFolder().isEmpty());
}

void TestWriter::leavesNothingBehindWhenASourceFails() {
  Writer good;
  QVERIFY(good.write(path_).ok());
  const QByteArray before = contentOf(path_);
  Writer bad;
  bad.addTensor("t", TensorType::kI8, {1}, []() -> Result<std::span<const std::byte>> {
    return Error{ErrorCode::kCancelled, "Cancelled."};
  });
  const Status status = bad.write(path_);
  QVERIFY(!status.ok());
  QVERIFY(status.error().code == ErrorCode::kCancelled);
  QCOMPARE(contentOf(path_), before);
  QCOMPARE(namesInFolder(), QStringList{"model.gguf"});

  const Status nowhere = good.write(folder_.filePath("missing/model.gguf").toStdString());
  QVERIFY(!nowhere.ok());
  QVERIFY(nowhere.error().code == ErrorCode::kIo);
}

void TestWriter::leavesNothingBehindWhenTheDiskIsFull() {
  Writer good;
  QVERIFY(good.write(path_).ok());
  const QByteArray before = contentOf(path_);
  const std::string data(1 << 20, 'x');
  Writer large;
  large.addTensor("t", TensorType::kI8, {1 << 20}, source(data));

  // A limit on the size of files stands for the full disk: write() fails half-way.
  rlimit limit = {};
  QCOMPARE(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small = {1 << 16, limit.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  QCOMPARE(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status status = large.write(path_);
  QCOMPARE(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  std::signal(SIGXFSZ, handler);

  QVERIFY(!status.ok());
  QVERIFY(status.error().code == ErrorCode::kIo);
  QVERIFY(status.error().message.find("cannot be written") != std::string::npos);
  QCOMPARE(contentOf(path_), before);
  QCOMPARE(namesInFolder(), QStringList{"model.gguf"});
}

}  // namespace tandem::test

QTEST_APPLESS_MAIN(tandem::test::TestWriter)
#include "test_writer.moc"
