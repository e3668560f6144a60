// A fake engine that writes 2,000 tokens a second, for five seconds: the window loses under 5 % of its rate,
// and the GUI thread never stands still. Our own work per frame (events, bindings, layout, Markdown) is
// measured apart from painting by the software renderer.
#include <QElapsedTimer>
#include <QTest>
#include <QTimer>
#include <algorithm>
#include <ctime>
#include <vector>

#include "tests/ui/window_fixture.h"

namespace tandem::testing {
namespace {

constexpr int kRate = 2000;
constexpr int kSeconds = 5;

std::string script() {
  std::string text;
  while (text.size() < 4000) {
    text +=
        "A paragraph with **bold** words, `code` and a [link](https://example.org), some forty words long, "
        "as "
        "answers usually are when they explain something to a reader.\n\n"
        "- one point\n- another point\n\n"
        "```cpp\nfor (int i = 0; i < n; ++i) {\n    sum += values[i];\n}\n```\n\n";
  }
  return text;
}

double at(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1,
                         static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}

}  // namespace

class TestStreamRate : public QObject {
  Q_OBJECT

 private slots:
  void twoThousandTokensASecond() {
    WindowFixture fixture;
    fixture.session().settings()->setTintOrigins(true);
    fixture.backend.setAnswer(saysForever(script(), kRate, 4));

    // A heartbeat of a millisecond. Between two beats the thread's own processor time is work (a busy
    // neighbour on the machine does not count); painting lies between beforeRendering and afterRendering, as
    // the software renderer paints on this thread, and is taken off. What is left is our own work, summed per
    // frame. How late a beat comes is for how long the thread stood still.
    std::vector<double> own, gaps;
    double painting = 0, paintedAll = 0, ownOfFrame = 0, paintFrom = 0, workedUntil = 0;
    QElapsedTimer beat;
    connect(
        fixture.window(), &QQuickWindow::beforeRendering, this, [&] { paintFrom = threadMs(); },
        Qt::DirectConnection);
    connect(
        fixture.window(), &QQuickWindow::afterRendering, this, [&] { painting += threadMs() - paintFrom; },
        Qt::DirectConnection);

    fixture.chat().send("Go");
    QVERIFY(fixture.until([&] { return fixture.chat().phase() == ui::Chat::Writing; }));
    QTest::qWait(300);

    QTimer heart;
    heart.setTimerType(Qt::PreciseTimer);
    bool framed = false;
    connect(fixture.window(), &QQuickWindow::frameSwapped, &heart, [&] { framed = true; });
    connect(&heart, &QTimer::timeout, this, [&] {
      gaps.push_back(std::max(0.0, ms(beat) - 1));
      beat.start();
      const double now = threadMs();
      ownOfFrame += std::max(0.0, now - workedUntil - painting);
      workedUntil = now;
      paintedAll += painting;
      painting = 0;
      if (framed) {
        own.push_back(ownOfFrame);
        ownOfFrame = 0;
        framed = false;
      }
    });
    painting = 0;
    workedUntil = threadMs();
    beat.start();
    heart.start(1);
    QElapsedTimer wall;
    wall.start();
    const qsizetype before = tokens(fixture);
    // A real event loop, which rests between events; qWait only polls.
    QEventLoop watching;
    QTimer::singleShot(kSeconds * 1000, &watching, &QEventLoop::quit);
    watching.exec();
    const qsizetype shown = tokens(fixture) - before;
    const double seconds = ms(wall) / 1000;
    heart.stop();
    fixture.chat().stop();
    QVERIFY(fixture.until([&] { return !fixture.chat().answering(); }));

    QVERIFY2(!own.empty(), "no frame was drawn");
    const double rate = static_cast<double>(shown) / seconds;
    qInfo(
        "shown %.0f of %d tokens/s; own work per frame: median %.2f ms, 99 %% %.2f ms, worst %.2f ms; the "
        "thread busy at a stretch, painting included: 99 %% %.2f ms, worst %.2f ms; painting %.1f %% of the "
        "time; %zu frames",
        rate, kRate, at(own, 0.5), at(own, 0.99), at(own, 1), at(gaps, 0.99), at(gaps, 1),
        paintedAll / seconds / 10, own.size());
    QVERIFY(rate > 0.95 * kRate);
    QVERIFY(at(own, 0.5) < 2);
    QVERIFY(at(own, 0.99) < 16);
    QVERIFY(at(own, 1) < 50);
  }

 private:
  // Processor time of this thread, in milliseconds.
  static double threadMs() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
  }

  static double ms(const QElapsedTimer& timer) { return static_cast<double>(timer.nsecsElapsed()) / 1e6; }

  static qsizetype tokens(WindowFixture& fixture) {
    ui::MessageListModel* messages = fixture.session().messages();
    const storage::MessageRecord* answer = messages->message(messages->idAt(messages->count() - 1));
    return answer == nullptr ? 0 : static_cast<qsizetype>(answer->tokenIds.size());
  }
};

}  // namespace tandem::testing

int main(int argc, char** argv) {
  tandem::testing::TestStreamRate test;
  return tandem::testing::runWindowTest(test, argc, argv);
}

#include "test_stream_rate.moc"
