// The conversation service's mailbox: everything that happens (calls, commits, events of the backend) becomes
// a task that its one thread runs in order, so its state needs no locks. Owned jointly by the service and by
// the callbacks it has handed out; once closed, a late callback's task is dropped.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace tandem {

class Inbox {
 public:
  using Task = std::function<void()>;
  using TimePoint = std::chrono::steady_clock::time_point;

  // Any thread; never blocks.
  void push(Task task) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return;
      tasks_.push_back(std::move(task));
    }
    wake_.notify_one();
  }

  // Waits for tasks, at most until `deadline`, and takes all there are.
  std::vector<Task> take(std::optional<TimePoint> deadline) {
    std::unique_lock lock(mutex_);
    const auto ready = [this] { return !tasks_.empty(); };
    if (deadline) {
      wake_.wait_until(lock, *deadline, ready);
    } else {
      wake_.wait(lock, ready);
    }
    return std::exchange(tasks_, {});
  }

  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    tasks_.clear();
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Task> tasks_;
  bool closed_ = false;
};

}  // namespace tandem
