// What a person does in the window, by mouse and by keys, over the fake engine and a real store.
#include <QClipboard>
#include <QDir>
#include <QGuiApplication>
#include <QInputMethodEvent>
#include <QTest>

#include "tests/ui/window_fixture.h"

namespace tandem::testing {

class TestWindowFlows : public QObject {
  Q_OBJECT

 private slots:
  // The whole of a first conversation without touching the mouse.
  void aConversationByKeys() {
    WindowFixture fixture;
    fixture.backend.setAnswer(says("Canberra is the capital of Australia."));
    QVERIFY(fixture.find("prompt0"));
    fixture.type("Where is the capital");
    fixture.key(Qt::Key_Return, Qt::ShiftModifier);
    fixture.type("of Australia?");
    QCOMPARE(fixture.find("composerText")->property("text").toString(),
             QStringLiteral("Where is the capital\nof Australia?"));
    fixture.key(Qt::Key_Return);
    QVERIFY(fixture.until(
        [&] { return fixture.session().messages()->count() == 2 && !fixture.chat().answering(); }));
    QCOMPARE(fixture.session().messages()->contentOf(fixture.session().messages()->idAt(0)),
             QStringLiteral("Where is the capital\nof Australia?"));
    QCOMPARE(fixture.session().messages()->contentOf(fixture.session().messages()->idAt(1)),
             QStringLiteral("Canberra is the capital of Australia."));
    QCOMPARE(fixture.find("composerText")->property("text").toString(), QString());
    QVERIFY(fixture.find("statisticsLine")->property("text").toString().contains("tokens/s") ||
            fixture.find("statisticsLine")->property("text").toString().contains("token"));

    fixture.key(Qt::Key_N, Qt::ControlModifier);
    QVERIFY(fixture.until([&] { return fixture.chat().conversationId() == 0; }));
    QVERIFY(fixture.find("prompt0"));
    fixture.key(Qt::Key_Comma, Qt::ControlModifier);
    QVERIFY(fixture.find("themeChoice"));
    fixture.key(Qt::Key_2, Qt::ControlModifier);
    QVERIFY(fixture.find("modelPathField"));
    fixture.key(Qt::Key_1, Qt::ControlModifier);
    QVERIFY(fixture.find("composerText"));
  }

  void escapeAndTheButtonStop() {
    WindowFixture fixture;
    fixture.backend.setAnswer(saysForever("On and on. ", 200));
    fixture.type("Tell me");
    fixture.key(Qt::Key_Return);
    QVERIFY(fixture.until([&] { return fixture.chat().phase() == ui::Chat::Writing; }));
    QVERIFY(fixture.find("stopButton"));
    fixture.key(Qt::Key_Escape);
    QVERIFY(fixture.until([&] { return !fixture.chat().answering(); }));
    QVERIFY(fixture.find("continueButton"));
    QVERIFY(!fixture.find("answerNote")->property("text").toString().isEmpty());

    fixture.click("continueButton");
    QVERIFY(fixture.until([&] { return fixture.chat().phase() == ui::Chat::Writing; }));
    fixture.click("stopButton");
    QVERIFY(fixture.until([&] { return !fixture.chat().answering(); }));
  }

  void regenerateKeepsTheEarlierAnswer() {
    WindowFixture fixture;
    fixture.backend.setAnswer(says("First answer."));
    QVERIFY(fixture.ask("Question"));
    fixture.backend.setAnswer(says("Second answer."));
    fixture.click("regenerateButton");
    QVERIFY(
        fixture.until([&] { return answer(fixture) == "Second answer." && !fixture.chat().answering(); }));
    QCOMPARE(fixture.find("versionText")->property("text").toString(), QStringLiteral("2 / 2"));
    fixture.click("versionBefore");
    QVERIFY(fixture.until([&] { return answer(fixture) == "First answer."; }));
    fixture.click("versionNext");
    QVERIFY(fixture.until([&] { return answer(fixture) == "Second answer."; }));
  }

  void editAndBranch() {
    WindowFixture fixture;
    fixture.backend.setAnswer(says("Old."));
    QVERIFY(fixture.ask("Old question"));
    fixture.backend.setAnswer(says("New."));
    fixture.find("editButton")->forceActiveFocus();
    fixture.key(Qt::Key_Return);
    QVERIFY(fixture.find("editBox"));
    fixture.key(Qt::Key_A, Qt::ControlModifier);
    fixture.type("New question");
    fixture.key(Qt::Key_Return);
    QVERIFY(fixture.until([&] { return answer(fixture) == "New." && !fixture.chat().answering(); }));
    QCOMPARE(fixture.session().messages()->contentOf(fixture.session().messages()->idAt(0)),
             QStringLiteral("New question"));
    fixture.click("versionBefore");
    QVERIFY(fixture.until([&] { return answer(fixture) == "Old."; }));

    const qint64 before = fixture.chat().conversationId();
    fixture.click("branchButton");
    QVERIFY(fixture.until([&] { return fixture.chat().conversationId() != before; }));
    QVERIFY(fixture.until([&] { return answer(fixture) == "Old."; }));
    QCOMPARE(fixture.session().conversations()->count(), 2);
  }

  void deleteOffersUndo() {
    WindowFixture fixture;
    QVERIFY(fixture.ask("Keep me"));
    const qint64 id = fixture.chat().conversationId();
    QVERIFY(fixture.until([&] { return fixture.session().conversations()->count() == 1; }));
    fixture.find("conversationList")->forceActiveFocus(Qt::TabFocusReason);
    fixture.key(Qt::Key_Delete);
    QVERIFY(fixture.until([&] { return fixture.session().conversations()->count() == 0; }));
    QVERIFY(fixture.find("undoButton"));
    QCOMPARE(fixture.chat().conversationId(), 0);
    fixture.click("undoButton");
    QVERIFY(fixture.until([&] { return fixture.session().conversations()->count() == 1; }));
    QCOMPARE(fixture.chat().conversationId(), id);
    QVERIFY(fixture.until([&] { return fixture.session().messages()->count() == 2; }));

    // Delete once more while an answer is being written, and take it back by key.
    fixture.backend.setAnswer(saysForever("On and on. ", 200));
    fixture.chat().send("More");
    QVERIFY(fixture.until([&] { return fixture.chat().phase() == ui::Chat::Writing; }));
    fixture.find("conversationList")->forceActiveFocus(Qt::TabFocusReason);
    fixture.key(Qt::Key_Delete);
    QVERIFY(fixture.until([&] { return fixture.session().conversations()->count() == 0; }));
    fixture.key(Qt::Key_Z, Qt::ControlModifier);
    QVERIFY(fixture.until([&] { return fixture.session().messages()->count() == 4; }));
    QVERIFY(fixture.until([&] { return !fixture.chat().answering(); }));
  }

  void renameInPlace() {
    WindowFixture fixture;
    QVERIFY(fixture.ask("Something"));
    const qint64 id = fixture.chat().conversationId();
    QVERIFY(fixture.until([&] { return fixture.session().conversations()->count() == 1; }));
    fixture.key(Qt::Key_F2);
    QVERIFY(fixture.find("renameField"));
    fixture.key(Qt::Key_A, Qt::ControlModifier);
    fixture.type("Capitals");
    fixture.key(Qt::Key_Return);
    QVERIFY(fixture.until([&] { return fixture.session().conversations()->titleOf(id) == "Capitals"; }));
    QVERIFY(
        fixture.until([&] { return fixture.find("chatTitle")->property("text").toString() == "Capitals"; }));
    // Escape keeps the title.
    fixture.key(Qt::Key_F2);
    QVERIFY(fixture.find("renameField"));
    fixture.type("Lost");
    fixture.key(Qt::Key_Escape);
    QVERIFY(fixture.until([&] { return fixture.findNow("renameField") == nullptr; }));
    QCOMPARE(fixture.session().conversations()->titleOf(id), QStringLiteral("Capitals"));
  }

  void searchFindsAndOpens() {
    WindowFixture fixture;
    fixture.backend.setAnswer(says("A wombat digs burrows."));
    QVERIFY(fixture.ask("Animals"));
    const qint64 id = fixture.chat().conversationId();
    fixture.key(Qt::Key_N, Qt::ControlModifier);
    fixture.backend.setAnswer(says("Bread rises."));
    QVERIFY(fixture.ask("Baking"));
    fixture.key(Qt::Key_F, Qt::ControlModifier);
    fixture.type("wombat");
    QVERIFY(fixture.find("searchHit"));
    QCOMPARE(fixture.session().found()->count(), 1);
    fixture.key(Qt::Key_Down);
    fixture.key(Qt::Key_Return);
    QVERIFY(fixture.until([&] { return fixture.chat().conversationId() == id; }));
    QVERIFY(fixture.until([&] { return fixture.session().messages()->count() == 2; }));
  }

  // A refused send costs nothing: the text is back in the composer and the reason stands above it.
  void aRefusedSendKeepsTheDraft() {
    WindowFixture fixture;
    fixture.backend.setModel(std::nullopt);
    fixture.backend.setLoadResult(Error{ErrorCode::kCorruptFile, "The file ends early."}, 0);
    fixture.reopen();
    QVERIFY(fixture.find("emptyOpenModel"));
    fixture.click("composerText");
    fixture.type("Hello");
    fixture.key(Qt::Key_Return);
    QVERIFY(fixture.find("composerProblem"));
    QCOMPARE(fixture.find("composerText")->property("text").toString(), QStringLiteral("Hello"));
  }

  void aFailureStandsInItsMessage() {
    WindowFixture fixture;
    fixture.backend.setAnswer(
        failsAfter(2, "Half of it", {ErrorCode::kNonFinite, "The model gave a number that is not finite."}));
    QVERIFY(fixture.ask("Question"));
    QVERIFY(fixture.find("answerProblem"));
    QVERIFY(fixture.find("answerProblem")->property("text").toString().contains("not finite"));
    // Regenerating is still offered, and works.
    fixture.backend.setAnswer(says("All of it."));
    fixture.click("regenerateButton");
    QVERIFY(fixture.until([&] { return answer(fixture) == "All of it."; }));
  }

  void aFailedLoadKeepsTheEarlierModel() {
    WindowFixture fixture;
    const QString before = fixture.session().models()->name();
    fixture.backend.setLoadResult(Error{ErrorCode::kCorruptFile, "The file ends early."}, 20);
    fixture.click("railModels");
    fixture.click("modelPathField");
    fixture.type("/nowhere/broken.gguf");
    fixture.key(Qt::Key_Return);
    QVERIFY(fixture.find("loadProblem"));
    QVERIFY(fixture.find("loadProblem")->property("text").toString().contains("The file ends early."));
    QCOMPARE(fixture.session().models()->name(), before);
    QVERIFY(fixture.session().models()->ready());
  }

  // The other kind of model is opened while the empty state is shown, which then offers other beginnings.
  void theKindOfModelChangesWhileShown() {
    WindowFixture fixture;
    service::ModelInfo model = *fixture.backend.model();
    fixture.backend.setModel(std::nullopt);
    fixture.reopen();
    QVERIFY(fixture.find("emptyOpenModel"));
    for (const bool withTemplate : {false, true, false}) {
      model.hasChatTemplate = withTemplate;
      fixture.backend.setModel(model);
      fixture.backend.setLoadResult(std::nullopt, 100);
      fixture.session().models()->load("/models/other.gguf");
      QVERIFY(fixture.until([&] {
        return !fixture.session().models()->loading() &&
               fixture.session().models()->completionMode() != withTemplate;
      }));
      QTest::qWait(100);
      QVERIFY(!fixture.window()->grabWindow().isNull());
      fixture.session().settings()->setTextScale(withTemplate ? 1.0 : 1.2);
      fixture.window()->resize(withTemplate ? 1280 : 900, 800);
      QTest::qWait(100);
    }
  }

  void aModelWithoutATemplateSaysSo() {
    WindowFixture fixture;
    QVERIFY(fixture.findNow("completionNotice") == nullptr);
    service::ModelInfo model = *fixture.backend.model();
    model.hasChatTemplate = false;
    fixture.backend.setModel(model);
    fixture.reopen();
    QVERIFY(fixture.find("completionNotice"));
  }

  // Return that ends a composition belongs to the input method.
  void composingNeverSends() {
    WindowFixture fixture;
    QQuickItem* composer = fixture.find("composerText");
    QInputMethodEvent begin(QStringLiteral("にほん"), {});
    QGuiApplication::sendEvent(composer, &begin);
    QVERIFY(composer->property("inputMethodComposing").toBool());
    fixture.key(Qt::Key_Return);
    QCOMPARE(fixture.session().messages()->count(), 0);
    QVERIFY(!fixture.chat().answering());
    QInputMethodEvent commit;
    commit.setCommitString(QStringLiteral("日本"));
    QGuiApplication::sendEvent(composer, &commit);
    QVERIFY(composer->property("text").toString().contains(QStringLiteral("日本")));
    fixture.key(Qt::Key_Return);
    QVERIFY(fixture.until([&] { return fixture.session().messages()->count() == 2; }));
  }

  // What is half written for one conversation waits there while another is open.
  void draftsStayWithTheirConversation() {
    WindowFixture fixture;
    QVERIFY(fixture.ask("One"));
    const qint64 first = fixture.chat().conversationId();
    fixture.click("composerText");
    fixture.type("half a thought");
    fixture.key(Qt::Key_N, Qt::ControlModifier);
    QCOMPARE(fixture.find("composerText")->property("text").toString(), QString());
    fixture.chat().open(first);
    QCOMPARE(fixture.find("composerText")->property("text").toString(), QStringLiteral("half a thought"));
  }

  void copyGivesTheExactText() {
    WindowFixture fixture;
    const QString exact = QStringLiteral("**bold** \\(x\\) | a | b |\n\n```\ncode\n```\n  日本 \u202eabc  ");
    fixture.backend.setAnswer(says(exact.toStdString()));
    QVERIFY(fixture.ask("Copy"));
    fixture.click("copyAnswer");
    QCOMPARE(QGuiApplication::clipboard()->text(), exact);
  }

  void theMeterCountsBeforeSending() {
    WindowFixture fixture;
    QVERIFY(fixture.ask("A question of some length, to be counted"));
    fixture.click("composerText");
    fixture.type("and one more");
    QVERIFY(fixture.until([&] { return fixture.chat().draftTokens() > 0; }));
    QCOMPARE(fixture.chat().afterSending(), fixture.chat().contextUsed() + fixture.chat().draftTokens());
    QVERIFY(fixture.find("draftCount")->property("text").toString().contains("after sending"));
    QVERIFY(fixture.find("contextText")->property("text").toString().contains(" of "));
  }

  // A link of the model's is shown in full and opened only when the person says so.
  void aLinkIsAskedAbout() {
    WindowFixture fixture;
    fixture.backend.setAnswer(says("See [here](https://example.org/secret)."));
    QVERIFY(fixture.ask("Link"));
    QVERIFY(QMetaObject::invokeMethod(fixture.find("answerBody"), "linkActivated",
                                      Q_ARG(QString, QStringLiteral("https://example.org/secret"))));
    QCOMPARE(fixture.find("linkAddress")->property("text").toString(),
             QStringLiteral("https://example.org/secret"));
    fixture.click("linkCopy");
    QCOMPARE(QGuiApplication::clipboard()->text(), QStringLiteral("https://example.org/secret"));
    QVERIFY(fixture.until([&] { return fixture.findNow("linkAddress") == nullptr; }));
  }

  // The store can't be written: the chat goes on, and a banner says so.
  void troubleWithTheStoreIsABanner() {
    WindowFixture fixture(
        [](const Places& places) { QDir().mkpath(QString::fromStdString(places.database().string())); });
    QVERIFY(fixture.find("storeBanner"));
    QVERIFY(!fixture.find("storeBanner")->property("text").toString().isEmpty());
    fixture.backend.setAnswer(says("Still here."));
    QVERIFY(fixture.ask("Are you there?"));
    QCOMPARE(answer(fixture), QStringLiteral("Still here."));
  }

  void everythingIsThereAfterReopening() {
    WindowFixture fixture;
    fixture.backend.setAnswer(says("Remember me."));
    QVERIFY(fixture.ask("Question"));
    fixture.session().settings()->setTheme(ui::AppSettings::Dark);
    // The window is closed while a second answer is being written.
    fixture.backend.setAnswer(saysForever("On and on. ", 200));
    fixture.chat().send("More");
    QVERIFY(fixture.until([&] { return fixture.chat().phase() == ui::Chat::Writing; }));
    QTest::qWait(200);
    fixture.reopen();
    QCOMPARE(fixture.session().settings()->theme(), ui::AppSettings::Dark);
    QVERIFY(fixture.until([&] { return fixture.session().conversations()->count() == 1; }));
    fixture.chat().open(fixture.session().conversations()->idAt(0));
    QVERIFY(fixture.until([&] { return fixture.session().messages()->count() == 4; }));
    QVERIFY(answer(fixture).startsWith("On and on."));
    QVERIFY(fixture.find("continueButton"));
  }

 private:
  static QString answer(WindowFixture& fixture) {
    ui::MessageListModel* messages = fixture.session().messages();
    return messages->contentOf(messages->idAt(messages->count() - 1));
  }
};

}  // namespace tandem::testing

int main(int argc, char** argv) {
  tandem::testing::TestWindowFlows test;
  return tandem::testing::runWindowTest(test, argc, argv);
}

#include "test_window_flows.moc"
