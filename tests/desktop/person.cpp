#include "tests/desktop/person.h"

#include <QDir>
#include <QTest>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace tandem::testing {
namespace {

constexpr int kSettleMs = 100;

QQuickItem* visibleItem(QQuickItem* root, const QString& name) {
  QQuickItem* found = root->objectName() == name && root->isVisible() ? root : nullptr;
  for (QQuickItem* child : root->childItems()) {
    if (QQuickItem* below = visibleItem(child, name)) {
      found = below;
    }
  }
  return found;
}

}  // namespace

Person::Person(desktop::Composition& composition, QString shots)
    : composition_(composition), shots_(std::move(shots)) {
  QDir().mkpath(shots_);
  composition_.window()->requestActivate();
  wait("the window is exposed", [this] { return composition_.window()->isExposed(); });
}

void Person::expect(bool condition, const QString& what) {
  if (!condition) {
    shoot("failed");
    std::fprintf(stderr, "It does not hold that %s.\n", qPrintable(what));
    std::_Exit(1);
  }
  std::printf("ok: %s\n", qPrintable(what));
  std::fflush(stdout);
}

void Person::wait(const QString& what, const std::function<bool()>& condition, int limitMs) {
  expect(QTest::qWaitFor(condition, limitMs), what);
}

QQuickItem* Person::find(const QString& name) {
  QQuickItem* item = nullptr;
  wait(name + " is shown", [&] {
    item = visibleItem(composition_.window()->contentItem(), name);
    return item != nullptr;
  });
  return item;
}

void Person::click(const QString& name) {
  // What was just shown is still moving, or is about to be replaced: click what stays where it is.
  QQuickItem* item = nullptr;
  QPointF place;
  wait(name + " can be clicked", [&] {
    QQuickItem* now = visibleItem(composition_.window()->contentItem(), name);
    const QPointF centre =
        now == nullptr ? QPointF() : now->mapToScene({now->width() / 2, now->height() / 2});
    const bool same = now != nullptr && now == item && centre == place;
    item = now;
    place = centre;
    QTest::qWait(same ? 0 : kSettleMs);
    return same;
  });
  QTest::mouseClick(composition_.window(), Qt::LeftButton, Qt::NoModifier, place.toPoint());
}

void Person::type(const QString& text) {
  for (const QChar letter : text) {
    QTest::sendKeyEvent(QTest::Click, composition_.window(), Qt::Key_unknown, QString(letter),
                        Qt::NoModifier);
  }
}

void Person::key(Qt::Key key, Qt::KeyboardModifiers modifiers) {
  QTest::keyClick(composition_.window(), key, modifiers);
}

void Person::shoot(const QString& name) {
  QTest::qWait(150);
  composition_.window()->grabWindow().save(shots_ + "/" + name + ".png");
}

QString Person::text(int row) {
  ui::MessageListModel* messages = session().messages();
  return messages->contentOf(messages->idAt(row < 0 ? messages->count() + row : row));
}

}  // namespace tandem::testing
