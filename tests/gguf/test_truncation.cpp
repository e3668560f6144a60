// A real model cut at every 4 KiB and at random points: always refused with a sentence, never a read past the
// cut.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <QElapsedTimer>
#include <QTest>
#include <random>

#include "engine/gguf/file.h"
#include "engine/gguf/parser.h"
#include "tests/gguf/memory_file.h"

namespace tandem::test {
namespace {

constexpr std::uint64_t kStep = 4096;
constexpr std::uint64_t kModelBytes = 98'362'432;
constexpr std::uint64_t kHeaderBytes = 4 << 20;  // more than the header of the model takes

// The model, mapped for this test alone, so that pages can be made unreadable.
class Mapping {
 public:
  explicit Mapping(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    void* memory = ::mmap(nullptr, kModelBytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (memory != MAP_FAILED) start_ = static_cast<std::byte*>(memory);
    ::close(fd);
  }
  ~Mapping() {
    if (start_ != nullptr) ::munmap(start_, kModelBytes);
  }
  bool ok() const { return start_ != nullptr; }
  std::span<const std::byte> first(std::uint64_t size) const { return {start_, size}; }
  // From now on, touching the page of `offset` ends the program.
  bool forbidPage(std::uint64_t offset) { return ::mprotect(start_ + offset, kStep, PROT_NONE) == 0; }

 private:
  std::byte* start_ = nullptr;
};

std::string modelPath() {
  return qgetenv("TANDEM_MODELS").toStdString() + "/SmolLM2-135M-Instruct.Q4_1.gguf";
}

bool isPlainRefusal(const Error& error) {
  return error.code == ErrorCode::kCorruptFile && !error.field.empty() && error.offset.has_value() &&
         error.message.find("ownload it again.") != std::string::npos;
}

}  // namespace

class TestTruncation : public QObject {
  Q_OBJECT
 private slots:
  void everyPage();
  void randomPoints();
};

// Cuts in the data differ only in what checkComplete() says, which is asked for all of them; for each 64th of
// them, and for every cut in the header, the whole reader runs.
void TestTruncation::everyPage() {
  Mapping model(modelPath());
  QVERIFY2(model.ok(), "set TANDEM_MODELS to the folder that holds SmolLM2-135M-Instruct.Q4_1.gguf");
  const auto whole = gguf::parse(model.first(kModelBytes));
  QVERIFY(whole.ok());
  QElapsedTimer timer;
  timer.start();
  int inHeader = 0, inData = 0;
  for (std::uint64_t size = (kModelBytes - 1) / kStep * kStep;; size -= kStep) {
    QVERIFY(model.forbidPage(size));
    const bool dataCut = size >= whole->dataStart;
    if (dataCut) {
      const Status status = gguf::checkComplete(*whole, size);
      QVERIFY2(!status, qPrintable(QString("cut at %1: accepted").arg(size)));
      QVERIFY2(isPlainRefusal(status.error()), status.error().describe().c_str());
      const std::string percent = " stopped at " + std::to_string(100 * size / kModelBytes) + " %";
      QVERIFY2(status.error().message.find(percent) != std::string::npos, status.error().message.c_str());
      ++inData;
    }
    if (!dataCut || size / kStep % 64 == 0) {
      const auto contents = gguf::parse(model.first(size));
      QVERIFY2(!contents, qPrintable(QString("cut at %1: accepted").arg(size)));
      QVERIFY2(isPlainRefusal(contents.error()), contents.error().describe().c_str());
      if (!dataCut) ++inHeader;
    }
    if (size == 0) break;
  }
  qInfo("%d cuts in the header and %d in the data, refused in %lld ms", inHeader, inData, timer.elapsed());
  QVERIFY(inHeader > 400);
  QVERIFY(inData > 23'000);
}

void TestTruncation::randomPoints() {
  const Mapping model(modelPath());
  QVERIFY2(model.ok(), "set TANDEM_MODELS to the folder that holds SmolLM2-135M-Instruct.Q4_1.gguf");
  const std::string_view header(reinterpret_cast<const char*>(model.first(kHeaderBytes).data()),
                                kHeaderBytes);
  std::mt19937_64 random(1);
  for (int i = 0; i < 30; ++i) {
    // Half of the points in the header, where the content matters; the data itself is never read.
    const std::uint64_t size = random() % (i % 2 == 0 ? kHeaderBytes : kModelBytes);
    const MemoryFile file(header, size);
    QVERIFY(file.ok());
    const auto opened = gguf::File::open(file.path());
    QVERIFY2(!opened, qPrintable(QString("cut at %1: accepted").arg(size)));
    QVERIFY2(isPlainRefusal(opened.error()), opened.error().describe().c_str());
  }
}

}  // namespace tandem::test

QTEST_APPLESS_MAIN(tandem::test::TestTruncation)
#include "test_truncation.moc"
