// Brings work from other threads to the GUI thread, and drops it when its object is gone.
//
// An object that hands callbacks to the service keeps a GuiPost and gives its sender() to them; the copies
// may outlive the object, and posting through them is safe from any thread at any time.
#pragma once

#include <QCoreApplication>
#include <QObject>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace tandem::ui {

class GuiPost {
  struct Shared {
    std::mutex mutex;
    QObject* target;
  };

 public:
  class Sender {
   public:
    explicit Sender(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
    // Runs `work` later on the target's thread, unless the target is gone by then. Any thread.
    void operator()(std::function<void()> work) const {
      const std::lock_guard lock(shared_->mutex);
      if (shared_->target != nullptr) {
        QMetaObject::invokeMethod(shared_->target, std::move(work), Qt::QueuedConnection);
      }
    }

   private:
    std::shared_ptr<Shared> shared_;
  };

  explicit GuiPost(QObject* target) : shared_(std::make_shared<Shared>()) { shared_->target = target; }
  ~GuiPost() {
    const std::lock_guard lock(shared_->mutex);
    shared_->target = nullptr;
  }
  GuiPost(const GuiPost&) = delete;
  GuiPost& operator=(const GuiPost&) = delete;

  Sender sender() const { return Sender(shared_); }

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace tandem::ui
