// Long runs of one thing, on a small stack, in linear time; and how fast ordinary text and loading are.
#include <pthread.h>
#include <time.h>

#include <QTest>
#include <algorithm>
#include <functional>

#include "tests/tokenizer/real_models.h"

namespace tandem::test {
namespace {

constexpr std::size_t kRun = 65536;
constexpr std::size_t kStackBytes = 256 * 1024;
constexpr double kSlackSeconds = 0.003;  // of the clock and the allocator, which count for the fastest cases

// Speed is only asked of what is shipped: optimised, and without a sanitizer.
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr double kSlower = 1;
#else
constexpr double kSlower = 20;
#endif

// CPU time of this thread, which other programs on the machine hardly change.
double threadSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Runs `work` on a thread with kStackBytes of stack; false when the thread could not be made.
bool onSmallStack(const std::function<void()>& work) {
  pthread_attr_t attributes;
  pthread_t thread;
  const auto run = [](void* argument) -> void* {
    (*static_cast<const std::function<void()>*>(argument))();
    return nullptr;
  };
  if (pthread_attr_init(&attributes) != 0 || pthread_attr_setstacksize(&attributes, kStackBytes) != 0)
    return false;
  const bool started =
      pthread_create(&thread, &attributes, run, const_cast<void*>(static_cast<const void*>(&work))) == 0;
  pthread_attr_destroy(&attributes);
  return started && pthread_join(thread, nullptr) == 0;
}

std::string repeat(std::string_view unit, std::size_t count) {
  std::string text;
  text.reserve(unit.size() * count);
  for (std::size_t i = 0; i < count; ++i)
    text.append(unit);
  return text;
}

}  // namespace

class TestLongRuns : public QObject {
  Q_OBJECT
 private slots:
  void takesLinearTime_data();
  void takesLinearTime();
  void encodesAMegabyteQuickly_data();
  void encodesAMegabyteQuickly();
  void loadsQuickly_data();
  void loadsQuickly();
};

void TestLongRuns::takesLinearTime_data() {
  QTest::addColumn<QString>("model");
  QTest::addColumn<QByteArray>("unit");
  for (const char* model : {kSmolLm2, kGemma3}) {
    QTest::addRow("%s, A", model) << model << QByteArray("A");
    QTest::addRow("%s, Z", model) << model << QByteArray("Z");
    QTest::addRow("%s, space", model) << model << QByteArray(" ");
    QTest::addRow("%s, newline", model) << model << QByteArray("\n");
    QTest::addRow("%s, 1", model) << model << QByteArray("1");
    QTest::addRow("%s, (", model) << model << QByteArray("(");
    QTest::addRow("%s, <", model) << model << QByteArray("<");
    QTest::addRow("%s, combining", model) << model << QByteArray("e\xCC\x81");
    QTest::addRow("%s, ZWJ chain", model) << model << QByteArray("\xF0\x9F\x91\xA9\xE2\x80\x8D");
    QTest::addRow("%s, invalid", model) << model << QByteArray("\xE6");
  }
}

void TestLongRuns::takesLinearTime() {
  QFETCH(const QString, model);
  QFETCH(const QByteArray, unit);
  const auto tokenizer = realTokenizer(model.toStdString());
  QVERIFY2(tokenizer, why(tokenizer).c_str());
  const std::string once = repeat(unit.toStdString(), kRun);
  const std::string fourTimes = repeat(unit.toStdString(), 4 * kRun);

  bool exact = true;
  double onceSeconds = 1e9;
  double fourSeconds = 1e9;
  const auto seconds = [&](const std::string& text) {
    const double begin = threadSeconds();
    const auto ids = (*tokenizer)->encode(text);
    const double end = threadSeconds();
    exact = exact && ids && (*tokenizer)->decode(*ids) == text;
    return end - begin;
  };
  const bool ran = onSmallStack([&] {
    for (int i = 0; i < 5; ++i) {
      onceSeconds = std::min(onceSeconds, seconds(once));
      fourSeconds = std::min(fourSeconds, seconds(fourTimes));
    }
  });
  QVERIFY(ran);
  QVERIFY(exact);
  // Twice as much may take two and a half times as long; quadratic time takes four times. Doubled twice, since
  // another guest on this core may lengthen either by half.
  QVERIFY2(fourSeconds <= 2.5 * 2.5 * onceSeconds + kSlackSeconds,
           qPrintable(QString("%1 s, four times as much: %2 s").arg(onceSeconds).arg(fourSeconds)));
}

void TestLongRuns::encodesAMegabyteQuickly_data() {
  QTest::addColumn<QString>("model");
  QTest::newRow("smollm2") << kSmolLm2;
  QTest::newRow("gemma3") << kGemma3;
}

void TestLongRuns::encodesAMegabyteQuickly() {
  QFETCH(const QString, model);
  const auto tokenizer = realTokenizer(model.toStdString());
  QVERIFY2(tokenizer, why(tokenizer).c_str());
  const std::string prompts = readTestData("greedy/prompts_public.txt");
  QVERIFY(prompts.size() > 500);
  const std::string text = repeat(prompts, 1000000 / prompts.size() + 1);
  const double begin = threadSeconds();
  const auto ids = (*tokenizer)->encode(text);
  const double seconds = threadSeconds() - begin;
  QVERIFY(ids);
  QVERIFY((*tokenizer)->decode(*ids) == text);
  QVERIFY2(seconds < 1.0 * kSlower, qPrintable(QString("%1 s").arg(seconds)));
}

void TestLongRuns::loadsQuickly_data() {
  QTest::addColumn<QString>("model");
  QTest::newRow("smollm2") << kSmolLm2;
  QTest::newRow("gemma3") << kGemma3;
}

void TestLongRuns::loadsQuickly() {
  QFETCH(const QString, model);
  const auto file = gguf::File::open(realModelPath(model.toStdString()));
  QVERIFY2(file, why(file).c_str());
  const double begin = threadSeconds();
  const auto tokenizer = Tokenizer::load(**file);
  const double seconds = threadSeconds() - begin;
  QVERIFY(tokenizer);
  QVERIFY2(seconds < 0.25 * kSlower, qPrintable(QString("%1 s").arg(seconds)));
}

}  // namespace tandem::test

QTEST_APPLESS_MAIN(tandem::test::TestLongRuns)
#include "test_long_runs.moc"
