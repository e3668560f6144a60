#include "app/service/event_lanes.h"

#include <algorithm>

namespace tandem::service {

EventLanes::Lane& EventLanes::borrow() {
  const std::lock_guard lock(mutex_);
  if (most_ == 1) {
    ++lanes_.front()->users_;
    return *lanes_.front();
  }
  const auto fewerUsers = [](const auto& a, const auto& b) { return a->users_ < b->users_; };
  auto idlest = std::min_element(lanes_.begin() + 1, lanes_.end(), fewerUsers);
  const bool free = idlest != lanes_.end() && (*idlest)->users_ == 0;
  if (!free && static_cast<int>(lanes_.size()) < most_) {
    lanes_.push_back(std::make_unique<Lane>());
    idlest = lanes_.end() - 1;
  }
  ++(*idlest)->users_;
  return **idlest;
}

}  // namespace tandem::service
