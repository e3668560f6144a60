// A fake engine that writes 2,000 tokens a second, for five seconds: the window loses under 5 % of its rate,
// and the GUI thread never stands still. Our own work per frame (events, bindings, layout, Markdown) is
// measured apart from painting by the software renderer.
#include <QElapsedTimer>
#include <QTest>
#include <QTimer>
#include <algorithm>
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

    // A frame: its painting lies between beforeRendering and afterRendering (the software renderer paints on
    // this thread). Everything else between two returns to the event loop's idle is our own work.
    std::vector<double> own, gaps;
    double painting = 0, paintedAll = 0;
    QElapsedTimer paint;
    connect(
        fixture.window(), &QQuickWindow::beforeRendering, this, [&] { paint.start(); }, Qt::DirectConnection);
    connect(
        fixture.window(), &QQuickWindow::afterRendering, this, [&] { painting += ms(paint); },
        Qt::DirectConnection);

    fixture.chat().send("Go");
    QVERIFY(fixture.until([&] { return fixture.chat().phase() == ui::Chat::Writing; }));
    QTest::qWait(300);

    QElapsedTimer busy;
    QAbstractEventDispatcher* loop = QAbstractEventDispatcher::instance();
    const auto awake = connect(loop, &QAbstractEventDispatcher::awake, this, [&] {
      busy.start();
      painting = 0;
    });
    const auto sleeps = connect(loop, &QAbstractEventDispatcher::aboutToBlock, this, [&] {
      if (busy.isValid()) {
        const double all = ms(busy);
        gaps.push_back(all);
        own.push_back(std::max(0.0, all - painting));
        paintedAll += painting;
        busy.invalidate();
      }
    });
    QElapsedTimer wall;
    wall.start();
    const qsizetype before = tokens(fixture);
    QTest::qWait(kSeconds * 1000);
    const qsizetype shown = tokens(fixture) - before;
    const double seconds = ms(wall) / 1000;
    disconnect(awake);
    disconnect(sleeps);
    fixture.chat().stop();
    QVERIFY(fixture.until([&] { return !fixture.chat().answering(); }));

    QVERIFY2(!own.empty(), "the event loop never came to rest: the window is not fast enough for this machine");
    const double rate = static_cast<double>(shown) / seconds;
    qInfo(
        "shown %.0f of %d tokens/s; own work per wake-up: median %.2f ms, 99 %% %.2f ms, worst %.2f ms; with "
        "painting: 99 %% %.2f ms, worst %.2f ms; painting %.1f %% of the time; %zu wake-ups",
        rate, kRate, at(own, 0.5), at(own, 0.99), at(own, 1), at(gaps, 0.99), at(gaps, 1),
        paintedAll / seconds / 10, own.size());
    QVERIFY(rate > 0.95 * kRate);
    QVERIFY(at(own, 0.5) < 2);
    QVERIFY(at(own, 0.99) < 16);
    QVERIFY(at(own, 1) < 50);
  }

 private:
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
