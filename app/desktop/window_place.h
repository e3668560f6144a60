// Remembers where the window was and puts it back, on a screen that exists now. GUI thread; the window must
// outlive it.
#pragma once

#include <QObject>
#include <QRect>
#include <QString>
#include <QTimer>
#include <QWindow>

namespace tandem::desktop {

// Moves and shrinks `wanted` until it lies within one of `screens`: the one it overlaps most, else the first.
// REQUIRES: screens is not empty
QRect clampToScreens(const QRect& wanted, const QList<QRect>& screens);

class WindowPlace : public QObject {
  Q_OBJECT

 public:
  WindowPlace(QWindow* window, const QString& file);

  void restore();
  void save() const;

 private:
  QWindow* window_;
  QString file_;
  QTimer saveSoon_;  // moving a window gives many events; the place is written when it rests
};

}  // namespace tandem::desktop
