#include "app/service/event_thread.h"

#include <utility>

namespace tandem::service {

EventThread::~EventThread() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void EventThread::post(Event event) {
  {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
  }
  wake_.notify_one();
}

void EventThread::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return closing_ || !events_.empty(); });
    if (events_.empty()) return;
    {
      const std::vector<Event> now = std::exchange(events_, {});
      lock.unlock();
      for (const Event& event : now)
        event();
    }  // what the events hold is let go without the lock
    lock.lock();
  }
}

}  // namespace tandem::service
