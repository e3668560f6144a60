#include "tests/ui/window_fixture.h"

#include <QGuiApplication>
#include <QSignalSpy>
#include <QTest>

namespace tandem::testing {
namespace {

constexpr int kPatienceMs = 10'000;
constexpr int kFindMs = 5'000;
constexpr int kSettleMs = 60;

}  // namespace

FakeAnswer says(std::string text, double tokensPerSecond, int tokensPerPiece) {
  FakeAnswer answer;
  answer.text = std::move(text);
  answer.tokensPerSecond = tokensPerSecond;
  answer.tokensPerPiece = tokensPerPiece;
  return answer;
}

FakeAnswer saysForever(std::string text, double tokensPerSecond, int tokensPerPiece) {
  FakeAnswer answer = says(std::move(text), tokensPerSecond, tokensPerPiece);
  answer.endless = true;
  return answer;
}

FakeAnswer failsAfter(int tokens, std::string text, Error error) {
  FakeAnswer answer = says(std::move(text));
  answer.fail = std::move(error);
  answer.failAfterTokens = tokens;
  return answer;
}

WindowFixture::WindowFixture(const std::function<void(const Places&)>& prepare)
    : places_(findPlaces(home_.path().toStdString()).value()) {
  if (!makePlaces(places_).ok()) {
    qFatal("The test's home could not be made.");
  }
  if (prepare) {
    prepare(places_);
  }
  open();
}

WindowFixture::~WindowFixture() {
  composition_.reset();
  store_.reset();
}

void WindowFixture::open() {
  auto store = storage::Store::open(places_.database().string());
  if (!store.ok()) {
    qFatal("%s", store.error().message.c_str());
  }
  store_ = std::move(store.value());
  composition_ = std::make_unique<desktop::Composition>(*store_, backend, places_);
  const Status shown = composition_->show(QString());
  if (!shown.ok() || !QTest::qWaitForWindowExposed(window())) {
    qFatal("The window could not be shown.");
  }
  window()->setGeometry(0, 0, 1280, 820);  // the screen that does not exist is smaller
  window()->requestActivate();
  if (!QTest::qWaitForWindowActive(window())) {
    qFatal("The window did not become active.");
  }
}

void WindowFixture::reopen() {
  composition_.reset();
  store_.reset();
  open();
}

void WindowFixture::visit(QQuickItem* root, const std::function<void(QQuickItem*)>& seen) {
  seen(root);
  for (QQuickItem* child : root->childItems()) {
    visit(child, seen);
  }
}

QQuickItem* WindowFixture::findNow(const QString& name) {
  QQuickItem* found = nullptr;
  visit(window()->contentItem(), [&](QQuickItem* item) {
    if (item->objectName() == name && item->isVisible()) {
      found = item;
    }
  });
  return found;
}

QQuickItem* WindowFixture::find(const QString& name) {
  QQuickItem* found = nullptr;
  const bool shown = QTest::qWaitFor([&] { return (found = findNow(name)) != nullptr; }, kFindMs);
  return shown ? found : nullptr;
}

void WindowFixture::click(const QString& name) {
  // What was just shown is still moving, or is about to be replaced: click what stays where it is.
  QQuickItem* item = nullptr;
  QPointF place;
  const bool rests = QTest::qWaitFor(
      [&] {
        QQuickItem* now = findNow(name);
        const QPointF centre =
            now == nullptr ? QPointF() : now->mapToScene({now->width() / 2, now->height() / 2});
        const bool same = now != nullptr && now == item && centre == place;
        item = now;
        place = centre;
        QTest::qWait(same ? 0 : kSettleMs);
        return same;
      },
      kFindMs);
  QVERIFY2(rests, qPrintable(QStringLiteral("There is no visible item named ") + name));
  QTest::mouseClick(window(), Qt::LeftButton, Qt::NoModifier, place.toPoint());
}

void WindowFixture::type(const QString& text) {
  for (const QChar letter : text) {
    QTest::sendKeyEvent(QTest::Click, window(), Qt::Key_unknown, QString(letter), Qt::NoModifier);
  }
}

void WindowFixture::key(Qt::Key key, Qt::KeyboardModifiers modifiers) {
  QTest::keyClick(window(), key, modifiers);
}

bool WindowFixture::until(const std::function<bool()>& condition) {
  return QTest::qWaitFor(condition, kPatienceMs);
}

bool WindowFixture::ask(const QString& text) {
  const int before = session().messages()->count();
  chat().send(text);
  return until([&] { return session().messages()->count() == before + 2 && !chat().answering(); });
}

int runWindowTest(QObject& test, int argc, char** argv) {
  desktop::prepareApplication();
  QGuiApplication application(argc, argv);
  desktop::finishApplication();
  return QTest::qExec(&test, argc, argv);
}

}  // namespace tandem::testing
