#include "tests/gguf/refusal.h"

#include <QTest>

#include "engine/gguf/file.h"
#include "tests/gguf/allocation_meter.h"
#include "tests/gguf/cpu_timer.h"
#include "tests/gguf/memory_file.h"

namespace tandem::test {
namespace {

constexpr double kTimeLimitMs = 1000;
constexpr std::int64_t kMemoryLimit = 64 << 20;

}  // namespace

void addRefusalColumns() {
  QTest::addColumn<QByteArray>("bytes");
  QTest::addColumn<quint64>("size");
  QTest::addColumn<QString>("code");
  QTest::addColumn<QString>("field");
  QTest::addColumn<quint64>("offset");
  QTest::addColumn<QString>("sentence");
}

void addRefusal(const char* name, const std::string& bytes, const Refusal& refusal,
                std::optional<std::uint64_t> size) {
  QTest::newRow(name) << QByteArray::fromStdString(bytes) << quint64{size.value_or(bytes.size())}
                      << QString(errorCodeName(refusal.code)) << QString::fromStdString(refusal.field)
                      << quint64{refusal.offset} << QString::fromStdString(refusal.sentence);
}

void checkRefusal() {
  QFETCH(QByteArray, bytes);
  QFETCH(quint64, size);
  QFETCH(QString, code);
  QFETCH(QString, field);
  QFETCH(quint64, offset);
  QFETCH(QString, sentence);
  const MemoryFile file({bytes.constData(), static_cast<std::size_t>(bytes.size())}, size);
  QVERIFY(file.ok());

  startAllocationMeter();
  const CpuTimer timer;
  const auto opened = gguf::File::open(file.path());
  const double elapsed = timer.elapsedMs();
  const std::int64_t memory = allocationPeak();

  QVERIFY2(!opened, "the file was accepted");
  const Error& error = opened.error();
  const QString message = QString::fromStdString(error.message);
  QVERIFY2(message.contains(sentence), error.message.c_str());
  QVERIFY2(message.endsWith('.') && message.front().isUpper(), error.message.c_str());
  QCOMPARE(QString(errorCodeName(error.code)), code);
  QCOMPARE(QString::fromStdString(error.field), field);
  QVERIFY(error.offset.has_value());
  QCOMPARE(quint64{*error.offset}, offset);
  QVERIFY2(elapsed < kTimeLimitMs, qPrintable(QString("%1 ms").arg(elapsed)));
  QVERIFY2(memory < kMemoryLimit, qPrintable(QString("%1 bytes").arg(memory)));
}

}  // namespace tandem::test
