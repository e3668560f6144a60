// A fake engine that writes 2,000 tokens a second, for four seconds: the window loses under 5 % of its rate,
// and the GUI thread never stands still. Our own work per frame (events, bindings, layout, Markdown) is
// measured apart from painting by the software renderer. A frame lasts from one update of the text to the
// next: where there is no screen to wait for, the renderer paints more often than that, and its repeated
// frames, which cost next to nothing, would halve the median.
#include <QElapsedTimer>
#include <QTest>
#include <QTextLayout>
#include <QTimer>
#include <algorithm>
#include <ctime>
#include <vector>

#include "tests/ui/window_fixture.h"

namespace tandem::testing {
namespace {

constexpr int kRate = 2000;
constexpr int kSeconds = 4;
constexpr int kBeatMs = 4;
constexpr int kPaceMs = 150;
constexpr double kUsualMs = 1.6;  // that a fixed paragraph takes

// Some 300 tokens as answers usually are: paragraphs of a few lines, a short list, a piece of code.
std::string script() {
  return "To find where a value belongs in a **sorted** list, halve the part that is still open again and "
         "again. "
         "Compare the value with the one in the middle: when it is smaller, what you look for lies before "
         "the "
         "middle, and when it is larger, behind it. Each step throws away half of what is left, so even a "
         "million entries need some twenty comparisons.\n\n"
         "Three things are easily got wrong, and each of them has been found in published code:\n\n"
         "- the middle of two large numbers, `(low + high) / 2`, overflows before it is halved;\n"
         "- a loop that ends one step early never looks at the last entry, or looks beyond it;\n"
         "- equal entries: say whether the first of them is meant, or any.\n\n"
         "```cpp\n"
         "std::size_t lowerBound(const std::vector<int>& sorted, int value) {\n"
         "    std::size_t low = 0;\n"
         "    std::size_t high = sorted.size();\n"
         "    while (low < high) {\n"
         "        const std::size_t middle = low + (high - low) / 2;\n"
         "        if (sorted[middle] < value)\n"
         "            low = middle + 1;\n"
         "        else\n"
         "            high = middle;\n"
         "    }\n"
         "    return low;\n"
         "}\n"
         "```\n\n"
         "It returns the place of the first entry that is not smaller than the value, which is also where "
         "the "
         "value would have to be inserted to keep the list in order. See [the "
         "proof](https://example.org/proof) "
         "for why the loop ends: the open part shrinks in every round, and what is left of it is never "
         "forgotten.\n\n";
}

double at(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1,
                         static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}

// Processor time of this thread, in milliseconds.
double threadMs() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

// Lays a fixed paragraph out: work of the window's kind that never changes.
void layOutParagraph() {
  static const QString text = QString::fromStdString(script()).replace('\n', ' ').repeated(2);
  QTextLayout layout(text, QFont("Inter", 11));
  layout.beginLayout();
  for (QTextLine line = layout.createLine(); line.isValid(); line = layout.createLine())
    line.setLineWidth(640);
  layout.endLayout();
}

}  // namespace

class TestStreamRate : public QObject {
  Q_OBJECT

 private slots:
  void twoThousandTokensASecond_data() {
    QTest::addColumn<bool>("tinted");
    QTest::addRow("plain") << false;
    QTest::addRow("tinted") << true;
  }

  // The machine may be busy with other work, which only ever makes the figures worse: the bounds go with its
  // pace, and one round of three that holds them shows that the window can.
  void twoThousandTokensASecond() {
    QFETCH(bool, tinted);
    Figures figures = stream(tinted);
    for (int round = 1; round < 3 && !figures.hold(); ++round) {
      figures = stream(tinted);
    }
    QVERIFY2(figures.rate > 0.95 * kRate, "the window slows the stream");
    QVERIFY2(at(figures.own, 0.5) < 2 * figures.slowness, "own work per frame, median");
    QVERIFY2(at(figures.own, 0.99) < 16 * figures.slowness, "own work per frame, 99 %");
    QVERIFY2(at(figures.busy, 1) < 50 * figures.slowness, "the thread stands still");
  }

 private:
  struct Figures {
    double slowness = 1;            // of the machine meanwhile
    double rate = 0;                // tokens/s shown
    std::vector<double> own{1e9};   // our own work of each frame, ms
    std::vector<double> busy{1e9};  // how long the thread worked at a stretch, painting included, ms

    bool hold() const {
      return rate > 0.95 * kRate && at(own, 0.5) < 2 * slowness && at(own, 0.99) < 16 * slowness &&
             at(busy, 1) < 50 * slowness;
    }
  };

  Figures stream(bool tinted) {
    WindowFixture fixture;
    fixture.session().settings()->setTintOrigins(tinted);
    fixture.backend.setAnswer(saysForever(script(), kRate, 4));

    // The thread's own processor time counts: a busy neighbour on the machine does not. Painting lies between
    // beforeSynchronizing and afterRendering, as the software renderer takes the scene and paints it on this
    // thread. What is left between two updates is our own work.
    double painted = 0, paintFrom = 0;
    connect(
        fixture.window(), &QQuickWindow::beforeSynchronizing, this, [&] { paintFrom = threadMs(); },
        Qt::DirectConnection);
    connect(
        fixture.window(), &QQuickWindow::afterRendering, this, [&] { painted += threadMs() - paintFrom; },
        Qt::DirectConnection);

    fixture.chat().send("Go");
    if (!fixture.until([&] { return fixture.chat().phase() == ui::Chat::Writing; })) {
      return {};
    }
    QTest::qWait(300);

    Figures figures{1, 0, {}, {}};
    // How much slower this machine is now than the one the bounds are meant for, by the time that a fixed
    // paragraph takes: its pace may change by a half within a second, when neighbours come to its core and
    // caches.
    std::vector<double> paragraphs;
    double apart = 0;  // that they took, which is none of the window's work
    QTimer pace;
    connect(&pace, &QTimer::timeout, this, [&] {
      const double from = threadMs();
      layOutParagraph();
      paragraphs.push_back(threadMs() - from);
      apart += paragraphs.back();
    });
    QTimer heart;
    heart.setTimerType(Qt::PreciseTimer);
    double frameFrom = threadMs(), paintedBefore = painted, apartBefore = apart;
    connect(body(fixture), &markdown::MarkdownMessage::changed, &heart, [&] {
      const double now = threadMs();
      figures.own.push_back(now - frameFrom - (painted - paintedBefore) - (apart - apartBefore));
      frameFrom = now;
      paintedBefore = painted;
      apartBefore = apart;
    });
    // What the thread works between two beats it works at a stretch.
    std::vector<double> gaps;
    QElapsedTimer beat;
    double beatAt = threadMs(), apartAt = apart;
    connect(&heart, &QTimer::timeout, this, [&] {
      const double now = threadMs();
      figures.busy.push_back(now - beatAt - (apart - apartAt));
      beatAt = now;
      apartAt = apart;
      gaps.push_back(ms(beat));
      beat.start();
    });
    const double paintedFrom = painted;
    beat.start();
    heart.start(kBeatMs);
    pace.start(kPaceMs);
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
    pace.stop();
    heart.disconnect();
    disconnect(body(fixture), nullptr, &heart, nullptr);
    const double paintedAll = painted - paintedFrom;
    fixture.chat().stop();
    if (!fixture.until([&] { return !fixture.chat().answering(); }) || figures.own.empty() ||
        paragraphs.empty()) {
      return {};
    }
    figures.rate = static_cast<double>(shown) / seconds;
    figures.slowness = std::max(1.0, at(paragraphs, 0.5) / kUsualMs);
    qInfo(
        "shown %.0f of %d tokens/s; own work per frame: median %.2f ms, 99 %% %.2f ms, worst %.2f ms; the "
        "thread busy at a stretch, painting included: 99 %% %.2f ms, worst %.2f ms; longest time between two "
        "beats of %d ms: %.0f ms; painting %.1f %% of the time; %zu frames; a fixed paragraph takes %.2f ms",
        figures.rate, kRate, at(figures.own, 0.5), at(figures.own, 0.99), at(figures.own, 1),
        at(figures.busy, 0.99), at(figures.busy, 1), kBeatMs, at(gaps, 1), paintedAll / seconds / 10,
        figures.own.size(), at(paragraphs, 0.5));
    return figures;
  }

  static double ms(const QElapsedTimer& timer) { return static_cast<double>(timer.nsecsElapsed()) / 1e6; }

  static markdown::MarkdownMessage* body(WindowFixture& fixture) {
    const ui::MessageListModel* messages = fixture.session().messages();
    return messages->index(messages->count() - 1)
        .data(ui::MessageListModel::BodyRole)
        .value<markdown::MarkdownMessage*>();
  }

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
