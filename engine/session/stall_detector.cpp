#include "engine/session/stall_detector.h"

#include <algorithm>

namespace tandem {

bool StallDetector::push(TokenId token) {
  const bool cycle = cycles(token);
  tokens_.push_back(token);
  const bool collapse = collapses();
  stalled_ = stalled_ || cycle || collapse;
  return stalled_;
}

bool StallDetector::cycles(TokenId token) {
  bool found = false;
  const int size = static_cast<int>(tokens_.size());
  for (int period = 1; period <= std::min(size, kLongestPeriod); ++period) {
    int& same = repeats_[period];
    same = tokens_[size - period] == token ? same + 1 : 0;
    found = found || same + period >= std::max(kCycleTokens, 4 * period);
  }
  return found;
}

bool StallDetector::collapses() {
  constexpr std::size_t kRun = 4;
  if (tokens_.size() >= kRun) {
    std::uint64_t hash = 0xCBF29CE484222325u;
    for (std::size_t i = tokens_.size() - kRun; i < tokens_.size(); ++i)
      hash = (hash ^ static_cast<std::uint32_t>(tokens_[i])) * 0x100000001B3u;
    novel_ += runs_.insert(hash).second;
  }
  if (tokens_.size() % kWindow != 0) return false;
  poorWindows_ = novel_ * kNovelOneIn < kWindow ? poorWindows_ + 1 : 0;
  novel_ = 0;
  return poorWindows_ >= 2;
}

}  // namespace tandem
