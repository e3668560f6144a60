// The whole window over a fake engine, in a home of its own: what every test of the window starts from.
#pragma once

#include <QQuickItem>
#include <QQuickWindow>
#include <QTemporaryDir>
#include <functional>
#include <memory>

#include "app/desktop/composition.h"
#include "app/places/places.h"
#include "storage/store.h"
#include "tests/conversation/fake_backend.h"

namespace tandem::testing {

// Answers of the fake engine. tokensPerSecond 0: as fast as it can.
FakeAnswer says(std::string text, double tokensPerSecond = 0, int tokensPerPiece = 1);
FakeAnswer saysForever(std::string text, double tokensPerSecond, int tokensPerPiece = 1);
FakeAnswer failsAfter(int tokens, std::string text, Error error);

class WindowFixture {
 public:
  // Shows the window and waits until it is exposed; fails the process with a sentence if that cannot be.
  // `prepare` may spoil the home before the store is opened.
  explicit WindowFixture(const std::function<void(const Places&)>& prepare = {});
  ~WindowFixture();

  FakeBackend backend;

  QQuickWindow* window() { return composition_->window(); }
  ui::Session& session() { return composition_->session(); }
  ui::Chat& chat() { return *session().chat(); }
  QString home() const { return home_.path(); }

  // Closes the window and the store, and opens both again on the same home.
  void reopen();

  // The visible item of this name; with several, the last in the order of the scene. Waits up to five
  // seconds; null when there is none.
  QQuickItem* find(const QString& name);
  QQuickItem* findNow(const QString& name);

  void click(const QString& name);
  void type(const QString& text);
  void key(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier);
  // Waits until `condition` holds, up to ten seconds.
  static bool until(const std::function<bool()>& condition);
  // Sends `text` through the composer and waits for the answer's end.
  bool ask(const QString& text);

  // Visits every item below `root`, children after their parent.
  static void visit(QQuickItem* root, const std::function<void(QQuickItem*)>& seen);

 private:
  void open();

  QTemporaryDir home_;
  Places places_;
  std::unique_ptr<storage::Store> store_;
  std::unique_ptr<desktop::Composition> composition_;
};

// main() of the tests of the window: the application as the program prepares it.
int runWindowTest(QObject& test, int argc, char** argv);

}  // namespace tandem::testing
