// How often the guesses of one drafter are right, by class of evidence (a match's length, a probability's
// range): what turns "it matched 5 tokens" into a probability.
//
// Counts are kept twice: for the loaded model, across requests, and for the request, which starts from the
// model's and soon follows its own text. Old counts fade, so both follow what changes. Of requests that run
// at once each sees the model's counts as they were when it began, and what it added itself: its guesses do
// not depend on who else is there.
#pragma once

#include <cstdint>
#include <vector>

namespace tandem {

// The counts of a loaded model. Belongs to the thread that generates.
class Calibration {
 public:
  // priors: what is believed of each class before anything was seen, each worth four guesses.
  explicit Calibration(const std::vector<float>& priors);

  int classes() const { return static_cast<int>(cells_.size()); }
  float probability(int evidence) const { return cells_[evidence].right / cells_[evidence].seen; }
  void observe(int evidence, bool right);

 private:
  struct Cell {
    float right, seen;
  };
  std::vector<Cell> cells_;
};

// One request's view of them.
class RequestCalibration {
 public:
  explicit RequestCalibration(Calibration& shared)
      : shared_(shared), seen_(shared), cells_(shared.classes()) {}

  // p = (6 * shared + right) / (6 + seen), the request's own counts fading beyond 48.
  float probability(int evidence) const;
  void observe(int evidence, bool right);

 private:
  struct Cell {
    float right = 0, seen = 0;
  };
  Calibration& shared_;
  Calibration seen_;  // the shared counts that this request sees
  std::vector<Cell> cells_;
};

}  // namespace tandem
