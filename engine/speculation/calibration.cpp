#include "engine/speculation/calibration.h"

#include <algorithm>

namespace tandem {
namespace {

constexpr float kPriorWeight = 4, kSharedWeight = 6;
constexpr float kSharedMost = 512, kRequestMost = 48;

// Adds an outcome to counts of at most `most` guesses; beyond that the old ones fade.
void count(float& counted, float& seen, bool right, float most) {
  const float keep = std::min(1.0f, (most - 1) / std::max(seen, 1.0f));
  counted = counted * keep + (right ? 1.0f : 0.0f);
  seen = seen * keep + 1;
}

}  // namespace

Calibration::Calibration(const std::vector<float>& priors) {
  for (const float prior : priors)
    cells_.push_back({prior * kPriorWeight, kPriorWeight});
}

void Calibration::observe(int evidence, bool right) {
  count(cells_[evidence].right, cells_[evidence].seen, right, kSharedMost);
}

float RequestCalibration::probability(int evidence) const {
  const Cell& own = cells_[evidence];
  return (kSharedWeight * seen_.probability(evidence) + own.right) / (kSharedWeight + own.seen);
}

void RequestCalibration::observe(int evidence, bool right) {
  shared_.observe(evidence, right);
  seen_.observe(evidence, right);
  count(cells_[evidence].right, cells_[evidence].seen, right, kRequestMost);
}

}  // namespace tandem
