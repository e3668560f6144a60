#include "app/desktop/window_place.h"

#include <QGuiApplication>
#include <QScreen>
#include <QSettings>
#include <algorithm>

namespace tandem::desktop {
namespace {

constexpr int kRestMs = 500;

int area(const QRect& rect) {
  return rect.isValid() ? rect.width() * rect.height() : 0;
}

}  // namespace

QRect clampToScreens(const QRect& wanted, const QList<QRect>& screens) {
  QRect screen = screens.first();
  for (const QRect& candidate : screens) {
    if (area(candidate.intersected(wanted)) > area(screen.intersected(wanted))) {
      screen = candidate;
    }
  }
  QRect rect(wanted.topLeft(), wanted.size().boundedTo(screen.size()));
  rect.moveLeft(std::clamp(rect.left(), screen.left(), screen.right() + 1 - rect.width()));
  rect.moveTop(std::clamp(rect.top(), screen.top(), screen.bottom() + 1 - rect.height()));
  return rect;
}

WindowPlace::WindowPlace(QWindow* window, const QString& file) : window_(window), file_(file) {
  saveSoon_.setSingleShot(true);
  saveSoon_.setInterval(kRestMs);
  connect(&saveSoon_, &QTimer::timeout, this, &WindowPlace::save);
  const auto touched = [this] { saveSoon_.start(); };
  connect(window_, &QWindow::xChanged, this, touched);
  connect(window_, &QWindow::yChanged, this, touched);
  connect(window_, &QWindow::widthChanged, this, touched);
  connect(window_, &QWindow::heightChanged, this, touched);
  connect(window_, &QWindow::visibilityChanged, this, touched);
}

void WindowPlace::restore() {
  QList<QRect> screens;
  for (const QScreen* screen : QGuiApplication::screens()) {
    screens << screen->availableGeometry();
  }
  if (screens.isEmpty()) {
    return;
  }
  const QSettings file(file_, QSettings::IniFormat);
  const QRect usual(QGuiApplication::primaryScreen()->availableGeometry().center() -
                        QPoint(window_->width() / 2, window_->height() / 2),
                    window_->size());
  const QRect kept = file.value("window/place").toRect();
  window_->setGeometry(clampToScreens(kept.isValid() ? kept : usual, screens));
  if (file.value("window/maximized").toBool()) {
    window_->setWindowStates(Qt::WindowMaximized);
  }
}

void WindowPlace::save() const {
  if (!window_->isVisible()) {
    return;
  }
  QSettings file(file_, QSettings::IniFormat);
  const bool maximized = window_->windowStates() & Qt::WindowMaximized;
  file.setValue("window/maximized", maximized);
  if (!maximized) {
    file.setValue("window/place", window_->geometry());
  }
}

}  // namespace tandem::desktop
