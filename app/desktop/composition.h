// The window, put together: what main() and the end-to-end test both build. Given the store and the backend
// (the real engine, or a fake in tests), it makes the session, loads the QML and keeps the window's place on
// the screen. GUI thread; the store and the backend must outlive it.
#pragma once

#include <QQmlEngine>
#include <QQuickWindow>
#include <QString>
#include <memory>

#include "app/places/places.h"
#include "ui/models/session.h"

namespace tandem::desktop {

class WindowPlace;

class Composition {
 public:
  Composition(storage::Store& store, service::EngineBackend& backend, const Places& places);
  ~Composition();
  Composition(const Composition&) = delete;
  Composition& operator=(const Composition&) = delete;

  // Loads and shows the window, then opens the start model. Fails when the QML does not load, which only a
  // broken installation can cause; the sentence names what is missing.
  Status show(const QString& model);
  void raise();

  QQuickWindow* window() const { return window_.get(); }
  ui::Session& session() { return session_; }

 private:
  ui::Session session_;
  std::unique_ptr<WindowPlace> place_;
  // Not a QQmlApplicationEngine: that looks for variants of every file for platforms and languages, of which
  // we have none, and spent a seventh of the time in which a block of a growing answer is made.
  QQmlEngine engine_;
  std::unique_ptr<QQuickWindow> window_;
  QString placeFile_;
};

// Before the QGuiApplication is made: names, the high-DPI policy and how the window is painted. After: the
// fonts of the window.
void prepareApplication();
void finishApplication();

}  // namespace tandem::desktop
