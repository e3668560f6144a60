// The window for people who don't see it or don't use a mouse: every control has a name, Tab reaches every
// control, and text stays readable at every size.
#include <QAccessible>
#include <QGuiApplication>
#include <QQmlComponent>
#include <QQmlEngine>
#include <QSet>
#include <QTest>
#include <cmath>
#include <memory>

#include "tests/ui/shown_listing.h"
#include "tests/ui/window_fixture.h"

namespace tandem::testing {
namespace {

bool isControl(QAccessible::Role role) {
  switch (role) {
    case QAccessible::Button:
    case QAccessible::CheckBox:
    case QAccessible::RadioButton:
    case QAccessible::EditableText:
    case QAccessible::Slider:
    case QAccessible::PageTab:
    case QAccessible::ListItem:
    case QAccessible::List:
    case QAccessible::MenuItem:
    case QAccessible::Link:
      return true;
    default:
      return false;
  }
}

double luminance(const QColor& colour) {
  const auto linear = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
  return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) + 0.0722 * linear(colour.blueF());
}

double contrast(const QColor& a, const QColor& b) {
  const double la = luminance(a), lb = luminance(b);
  return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

}  // namespace

class TestAccess : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { QAccessible::setActive(true); }

  void everyControlHasAName() {
    WindowFixture fixture;
    fixture.backend.setAnswer(says("Here:\n\n```cpp\nint a;\n```\n\n[link](https://example.org)"));
    QVERIFY(fixture.ask("Question"));
    fixture.chat().regenerate(fixture.session().messages()->idAt(1));
    QVERIFY(fixture.until([&] { return fixture.findNow("versionText") != nullptr; }));
    fixture.click("panelToggle");
    int seen = checkNames(fixture);
    fixture.find("searchField")->setProperty("text", "Question");
    QVERIFY(fixture.find("searchHit"));
    seen += checkNames(fixture);
    fixture.click("railModels");
    seen += checkNames(fixture);
    fixture.backend.setListing(shownListing());
    fixture.click("railCaches");
    QVERIFY(fixture.find("proveButton"));
    seen += checkNames(fixture);
    fixture.click("railSettings");
    seen += checkNames(fixture);
    QVERIFY2(seen > 60, qPrintable(QString::number(seen)));
  }

  // From the composer, Tab comes round to the composer again and meets everything that can be clicked.
  void tabReachesEveryControl() {
    WindowFixture fixture;
    QVERIFY(fixture.ask("Question"));
    QVERIFY(fixture.find("copyAnswer"));
    fixture.find("composerText")->forceActiveFocus();
    QSet<QQuickItem*> met;
    for (int i = 0; i < 80; ++i) {
      fixture.key(Qt::Key_Tab);
      QQuickItem* item = fixture.window()->activeFocusItem();
      QVERIFY(item != nullptr);
      for (QQuickItem* above = item; above != nullptr; above = above->parentItem()) {
        met.insert(above);  // a list hands the focus to its current row
      }
      if (item->objectName() == "composerText" && i > 5) {
        break;
      }
    }
    QVERIFY(met.contains(fixture.find("composerText")));
    for (const char* name :
         {"railChat", "railCaches", "railModels", "railSettings", "searchField", "newButton",
          "conversationList", "modelChip", "tintToggle", "panelToggle", "messageList", "copyAnswer",
          "regenerateButton", "branchButton", "copyPerson", "editButton"}) {
      QVERIFY2(met.contains(fixture.find(name)), name);
    }
  }

  // Where the focus is can be seen: the picture changes when it moves.
  void focusIsVisible() {
    WindowFixture fixture;
    for (const char* name : {"railModels", "newButton", "modelChip", "panelToggle", "prompt0"}) {
      fixture.find("searchField")->forceActiveFocus();
      QTest::qWait(50);
      QQuickItem* item = fixture.find(name);
      const QRect area =
          QRectF(item->mapToScene({-4, -4}), QSizeF(item->width() + 8, item->height() + 8)).toRect();
      const QImage before = fixture.window()->grabWindow().copy(area);
      item->forceActiveFocus(Qt::TabFocusReason);
      QTest::qWait(50);
      QVERIFY2(fixture.window()->grabWindow().copy(area) != before, name);
    }
  }

  void textIsReadable_data() {
    QTest::addColumn<int>("theme");
    QTest::addRow("light") << 1;
    QTest::addRow("dark") << 2;
  }
  void textIsReadable() {
    QFETCH(int, theme);
    WindowFixture fixture;
    fixture.session().settings()->setTheme(ui::AppSettings::Theme(theme));
    const std::unique_ptr<QObject> holder = themeOf(fixture);
    QVERIFY(holder != nullptr);
    const auto* colours = holder->property("theme").value<QObject*>();
    QVERIFY(colours != nullptr);
    const auto colour = [&](const char* name) { return colours->property(name).value<QColor>(); };
    for (const char* surface : {"window", "panel", "raised", "hover", "sunken"}) {
      for (const char* ink : {"text", "muted", "faint"}) {
        QVERIFY2(contrast(colour(ink), colour(surface)) >= 4.5,
                 qPrintable(QString("%1 on %2").arg(ink, surface)));
      }
      QVERIFY2(contrast(colour("accentInk"), colour(surface)) >= 4.5, surface);
      QVERIFY2(contrast(colour("focus"), colour(surface)) >= 3.0, surface);
    }
    QVERIFY(contrast(colour("accentText"), colour("accentFill")) >= 4.5);
    QVERIFY(contrast(colour("accentInk"), colour("accentSoft")) >= 4.5);
    QVERIFY(contrast(colour("text"), colour("dangerSoft")) >= 4.5);
    QVERIFY(contrast(colour("text"), colour("warningSoft")) >= 4.5);
  }

  // At the largest text the controls of the chat stay inside the smallest window.
  void largeTextStaysInside() {
    WindowFixture fixture;
    QVERIFY(fixture.ask("Question"));
    fixture.session().settings()->setTextScale(1.6);
    fixture.window()->resize(720, 480);
    QTest::qWait(200);
    for (const char* name : {"sendButton", "composerText", "searchField", "railSettings", "panelToggle"}) {
      QQuickItem* item = fixture.find(name);
      const QRectF place(item->mapToScene({0, 0}), QSizeF(item->width(), item->height()));
      QVERIFY2(QRectF(0, 0, fixture.window()->width(), fixture.window()->height()).contains(place), name);
    }
  }

 private:
  static int checkNames(WindowFixture& fixture) {
    int seen = 0;
    WindowFixture::visit(fixture.window()->contentItem(), [&](QQuickItem* item) {
      if (!item->isVisible()) {
        return;
      }
      QAccessibleInterface* face = QAccessible::queryAccessibleInterface(item);
      if (face == nullptr) {
        if (item->activeFocusOnTab()) {
          qCritical() << "takes the focus without being accessible:" << item;
          QTest::qFail("a control is not accessible", __FILE__, __LINE__);
        }
        return;
      }
      if (isControl(face->role())) {
        ++seen;
        if (face->text(QAccessible::Name).isEmpty()) {
          qCritical() << "no name:" << item << item->objectName() << face->role();
          QTest::qFail("a control has no name", __FILE__, __LINE__);
        }
      }
    });
    return seen;
  }

  static std::unique_ptr<QObject> themeOf(WindowFixture& fixture) {
    QQmlComponent component(qmlEngine(fixture.window()));
    component.setData("import QtQml\nimport Tandem.Theme\nQtObject { property QtObject theme: Theme }", {});
    return std::unique_ptr<QObject>(component.create());
  }
};

}  // namespace tandem::testing

int main(int argc, char** argv) {
  tandem::testing::TestAccess test;
  return tandem::testing::runWindowTest(test, argc, argv);
}

#include "test_access.moc"
