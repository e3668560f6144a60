// The view follows the end of an answer that is being written, until the reader scrolls away: then his place
// stays where it is until he asks for the latest.
#include <QTest>
#include <QWheelEvent>

#include "tests/ui/window_fixture.h"

namespace tandem::testing {
namespace {

FakeAnswer longAnswer() {
  std::string text;
  for (int i = 1; i <= 60; ++i) {
    text += "Paragraph " + std::to_string(i) +
            " goes on for a while so that it fills a line or two of the column.\n\n";
  }
  return says(text, 600);
}

}  // namespace

class TestFollow : public QObject {
  Q_OBJECT

 private slots:
  void followsThenYieldsThenJumps() {
    WindowFixture fixture;
    fixture.backend.setAnswer(longAnswer());
    QVERIFY(fixture.ask("Warm up"));
    FakeAnswer endless = longAnswer();
    endless.endless = true;
    fixture.backend.setAnswer(endless);
    fixture.chat().send("Go on");
    QVERIFY(fixture.until([&] { return fixture.chat().phase() == ui::Chat::Writing; }));
    QQuickItem* list = fixture.find("messageList");
    QTest::qWait(600);
    QVERIFY2(distance(list) < 60, qPrintable(QString::number(distance(list))));

    // One notch of the wheel upwards: the place holds while the answer grows.
    wheel(fixture, list, 120);
    QTest::qWait(200);
    QVERIFY(fixture.until([&] { return !list->property("moving").toBool(); }));
    QTest::qWait(100);  // the view comes to rest on a whole pixel
    const double place = list->property("contentY").toDouble();
    QTest::qWait(800);
    QCOMPARE(list->property("contentY").toDouble(), place);
    QVERIFY(distance(list) > 60);

    fixture.click("jumpToLatest");
    QTest::qWait(300);
    QVERIFY2(distance(list) < 60, qPrintable(QString::number(distance(list))));
    QTest::qWait(300);
    QVERIFY2(distance(list) < 60, qPrintable(QString::number(distance(list))));

    // Scrolling back down to the end by hand follows again.
    wheel(fixture, list, 240);
    QTest::qWait(200);
    QVERIFY(fixture.until([&] {
      wheel(fixture, list, -480);
      QTest::qWait(50);
      return distance(list) < 30;
    }));
    QTest::qWait(600);
    QVERIFY2(distance(list) < 60, qPrintable(QString::number(distance(list))));
    fixture.key(Qt::Key_Escape);
    QVERIFY(fixture.until([&] { return !fixture.chat().answering(); }));
  }

  void keysScrollToo() {
    WindowFixture fixture;
    fixture.backend.setAnswer(longAnswer());
    QVERIFY(fixture.ask("Warm up"));
    QQuickItem* list = fixture.find("messageList");
    QTest::qWait(300);
    const double end = list->property("contentY").toDouble();
    fixture.find("composerText")->forceActiveFocus();
    fixture.key(Qt::Key_PageUp);
    QTest::qWait(100);
    QVERIFY(list->property("contentY").toDouble() < end - 100);
    list->forceActiveFocus();
    fixture.key(Qt::Key_End);
    QTest::qWait(200);
    QVERIFY(distance(list) < 60);
    fixture.key(Qt::Key_Home);
    QTest::qWait(200);
    QVERIFY(list->property("atYBeginning").toBool());
  }

 private:
  static double distance(QQuickItem* list) { return list->property("endDistance").toDouble(); }

  static void wheel(WindowFixture& fixture, QQuickItem* list, int delta) {
    const QPointF centre = list->mapToScene({list->width() / 2, list->height() / 2});
    QWheelEvent event(centre, fixture.window()->mapToGlobal(centre), {}, {0, delta}, Qt::NoButton,
                      Qt::NoModifier, Qt::NoScrollPhase, false);
    QGuiApplication::sendEvent(fixture.window(), &event);
  }
};

}  // namespace tandem::testing

int main(int argc, char** argv) {
  tandem::testing::TestFollow test;
  return tandem::testing::runWindowTest(test, argc, argv);
}

#include "test_follow.moc"
