// A thread for each consumer of events: who is slow holds up nobody else. A lane is lent to one request at a
// time and used again; where more requests live than there may be lanes, some share one.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "app/service/event_thread.h"

namespace tandem::service {

class EventLanes {
 public:
  static constexpr int kMost = 64;

  class Lane {
   public:
    EventThread& thread() { return thread_; }
    // The request posts nothing more. Any thread, this lane's included.
    void release() { --users_; }

   private:
    friend class EventLanes;
    std::atomic<int> users_ = 0;
    EventThread thread_;
  };

  // most: lanes; 1: requests share the main one.
  explicit EventLanes(int most) : most_(most) { lanes_.push_back(std::make_unique<Lane>()); }

  EventThread& main() { return lanes_.front()->thread(); }
  // The lane of a new request, until its release(). Any thread.
  Lane& borrow();

 private:
  const int most_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Lane>> lanes_;  // the main one first
};

}  // namespace tandem::service
