// Text of models, files and people is shown as it stands: whatever it holds, nothing is fetched and nothing
// breaks. A listener on loopback counts the requests that would get out.
#include <QTcpServer>
#include <QTcpSocket>
#include <QTest>

#include "tests/ui/window_fixture.h"

namespace tandem::testing {

class TestForeignText : public QObject {
  Q_OBJECT

 private slots:
  void nothingIsFetchedAndNothingCrashes() {
    QTcpServer listener;
    QVERIFY(listener.listen(QHostAddress::LocalHost));
    int requests = 0;
    connect(&listener, &QTcpServer::newConnection, this, [&] {
      ++requests;
      listener.nextPendingConnection()->deleteLater();
    });
    const QString url = QStringLiteral("http://127.0.0.1:%1/a").arg(listener.serverPort());
    const QString payload =
        QStringLiteral("x <img src=\"%1\"> ![i](%1) <b>bold</b> <table><tr><td>&lt;").arg(url);

    WindowFixture fixture;
    service::ModelInfo model = *fixture.backend.model();
    model.name = payload.toStdString();
    model.quantization = payload.toStdString();
    model.architecture = payload.toStdString();
    model.endTokens = {{2, payload.toStdString()}};
    model.path = payload.toStdString();
    fixture.backend.setModel(model);
    fixture.reopen();

    fixture.backend.setAnswer(says(payload.toStdString() + "\n\n- " + payload.toStdString() +
                                   "\n\n| a | b |\n|---|---|\n| " + payload.toStdString() +
                                   " | 1 |\n\n```html\n" + payload.toStdString() + "\n```\n"));
    QVERIFY(fixture.ask(payload));
    const qint64 id = fixture.chat().conversationId();
    fixture.session().rename(id, payload);
    QVERIFY(fixture.until([&] { return fixture.session().conversations()->titleOf(id) == payload; }));
    fixture.chat().setSystemPrompt(payload);
    fixture.click("panelToggle");
    QTest::qWait(100);

    // Every list, menu, tip, notice and field that can show it.
    fixture.find("searchField")->setProperty("text", QStringLiteral("img src"));
    QVERIFY(fixture.find("searchHit"));
    QTest::qWait(100);
    fixture.find("searchField")->setProperty("text", QString());
    QVERIFY(fixture.find("conversationRow"));
    QVERIFY(QMetaObject::invokeMethod(fixture.find("conversationRow")->parentItem(), "openMenu"));
    QTest::qWait(100);
    fixture.key(Qt::Key_Escape);
    fixture.session().remove(id);
    QVERIFY(fixture.find("undoButton"));
    fixture.click("undoButton");
    QVERIFY(fixture.until([&] { return fixture.session().messages()->count() == 2; }));
    fixture.key(Qt::Key_F2);
    QVERIFY(fixture.find("renameField"));
    fixture.key(Qt::Key_Escape);

    fixture.backend.setAnswer(failsAfter(0, "a", Error{ErrorCode::kInternal, payload.toStdString()}));
    QVERIFY(fixture.ask(payload));
    QVERIFY(fixture.find("answerProblem"));
    fixture.backend.setLoadResult(Error{ErrorCode::kCorruptFile, payload.toStdString()}, 0);
    fixture.session().models()->load(QStringLiteral("/nowhere/") + payload);
    QVERIFY(fixture.find("modelProblem"));
    fixture.click("railModels");
    QVERIFY(fixture.find("loadProblem"));
    QTest::mouseMove(fixture.window(), fixture.find("railChat")->mapToScene({20, 20}).toPoint());
    QTest::qWait(800);  // the tip comes up
    fixture.click("railSettings");
    fixture.find("defaultSystemPrompt")->setProperty("text", payload);
    fixture.click("railChat");
    QQuickItem* chip = fixture.find("modelChip");
    QTest::mouseMove(fixture.window(), chip->mapToScene({chip->width() / 2, chip->height() / 2}).toPoint());
    QTest::qWait(800);
    QVERIFY(!fixture.window()->grabWindow().isNull());
    QTest::qWait(200);
    QCOMPARE(requests, 0);

    // The listener itself works: a request that is really made is counted.
    QTcpSocket socket;
    socket.connectToHost(QHostAddress::LocalHost, listener.serverPort());
    QVERIFY(fixture.until([&] { return requests == 1; }));
  }
};

}  // namespace tandem::testing

int main(int argc, char** argv) {
  tandem::testing::TestForeignText test;
  return tandem::testing::runWindowTest(test, argc, argv);
}

#include "test_foreign_text.moc"
