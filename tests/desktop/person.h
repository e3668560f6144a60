// A scripted person at the real window: clicks and types by real input events and looks at what is shown.
// Everything waits with a limit; the first thing that does not happen ends the script with a sentence.
#pragma once

#include <QQuickItem>
#include <QQuickWindow>
#include <QString>
#include <functional>

#include "app/desktop/composition.h"

namespace tandem::testing {

class Person {
 public:
  Person(desktop::Composition& composition, QString shots);

  void wait(const QString& what, const std::function<bool()>& condition, int limitMs = 60'000);
  QQuickItem* find(const QString& name);
  void click(const QString& name);
  void type(const QString& text);
  void key(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier);
  void shoot(const QString& name);
  // Fails the script unless it holds.
  void expect(bool condition, const QString& what);

  ui::Session& session() { return composition_.session(); }
  QString text(int row);  // of the message in this row; negative counts from the end

 private:
  desktop::Composition& composition_;
  QString shots_;
};

}  // namespace tandem::testing
