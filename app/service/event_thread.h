// The thread on which all sinks of a backend are called, one after the other in the order of post(). So
// events of one request never overlap or overtake each other, whichever thread made them, and nobody's lock
// is held while foreign code runs.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tandem::service {

class EventThread {
 public:
  using Event = std::function<void()>;

  EventThread() : thread_([this] { loop(); }) {}
  // Runs what was posted, then ends.
  ~EventThread();
  EventThread(const EventThread&) = delete;
  EventThread& operator=(const EventThread&) = delete;

  void post(Event event);  // any thread; never waits

 private:
  void loop();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Event> events_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace tandem::service
