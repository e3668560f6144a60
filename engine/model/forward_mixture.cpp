// The steps of a mixture of experts (rule 7 of docs/arithmetic.md): the router's choice, each expert over the
// rows that chose it, and the sum in order of rank, one row at a time.
#include <algorithm>
#include <cmath>

#include "engine/kernels/math32.h"
#include "engine/model/forward_pass.h"

namespace tandem {

using kernels::PackedMatrix;

void ForwardPass::mixture(const MixtureWeights& w) {
  const MixtureConfig& m = config_.mixture;
  const int dim = config_.dim, picked = rows_ * m.used;
  project(a_.normed.data(), dim, {{w.router, a_.routing.data()}});
  if (!finite_.load()) return;
  pickExperts();
  if (!finite_.load()) return;

  // The rows in the order of their experts, so that each expert reads its weights once.
  int place = 0;
  for (const std::vector<Pick>& expert : picks_) {
    for (const Pick& pick : expert) {
      const float* from = a_.normed.data() + static_cast<std::size_t>(pick.row) * dim;
      std::copy(from, from + dim, a_.expertIn.data() + static_cast<std::size_t>(place) * dim);
      place_[pick.row * m.used + pick.rank] = place++;
    }
  }
  multiplyExperts({{w.gate, a_.expertGate.data()}, {w.up, a_.expertUp.data()}}, a_.expertIn.data());
  gatedActivation(a_.expertGate.data(), a_.expertUp.data(), picked, m.feedForward);
  multiplyExperts({{w.down, a_.expertOut.data()}}, a_.expertGate.data());
  if (!finite_.load()) return;
  if (m.sharedFeedForward > 0) {
    project(
        a_.normed.data(), dim,
        {{w.sharedGate, a_.gate.data()}, {w.sharedUp, a_.up.data()}, {w.sharedRouter, a_.routing.data()}});
    gatedActivation(a_.gate.data(), a_.up.data(), rows_, m.sharedFeedForward);
    project(a_.gate.data(), m.sharedFeedForward, {{w.sharedDown, a_.expertIn.data()}});
  }
  joinExperts();
}

void ForwardPass::pickExperts() {
  const MixtureConfig& m = config_.mixture;
  picks_.resize(m.experts);
  for (std::vector<Pick>& expert : picks_)
    expert.clear();
  const std::size_t count = static_cast<std::size_t>(rows_) * m.used;
  place_.resize(count);
  expertWeights_.resize(count);
  std::vector<int> picked(m.used);
  for (int row = 0; row < rows_; ++row) {
    const float* scores = a_.routing.data() + static_cast<std::size_t>(row) * m.experts;
    if (!std::all_of(scores, scores + m.experts, [](float s) { return std::isfinite(s); })) {
      finite_.store(false);
      return;
    }
    kernels_.pickExperts(scores, m.experts, m.used, picked.data(), expertWeights_.data() + row * m.used);
    for (int rank = 0; rank < m.used; ++rank)
      picks_[picked[rank]].push_back({row, rank});
  }
}

// out = each expert's matrix times its rows, which follow each other in `in`.
void ForwardPass::multiplyExperts(std::initializer_list<ExpertProduct> products, const float* in) {
  const PackedMatrix& first = products.begin()->experts.front();
  if (!kernels::isFloatFormat(first.format())) quantize(in, static_cast<int>(place_.size()), first.k());
  if (!finite_.load()) return;
  std::vector<std::pair<int, int>> busy;  // expert, its first row
  int row = 0;
  for (std::size_t e = 0; e < picks_.size(); ++e) {
    if (!picks_[e].empty()) busy.emplace_back(static_cast<int>(e), row);
    row += static_cast<int>(picks_[e].size());
  }
  for (const ExpertProduct& p : products) {
    const int groups = p.experts.front().groups(), n = p.experts.front().n();
    const int units = static_cast<int>(busy.size()) * groups;
    d_.pool_.parallelFor(units, groupsAtATime(d_.pool_, units), [&](int begin, int end) {
      for (int unit = begin; unit < end;) {
        const auto [expert, at] = busy[unit / groups];
        const int from = unit % groups, to = std::min(groups, from + end - unit);
        multiply(p.experts[expert], in, at, static_cast<int>(picks_[expert].size()), from, to,
                 p.out + static_cast<std::size_t>(at) * n);
        unit += to - from;
      }
    });
  }
}

// projected = the sum over ranks of weight * expert's output; the gated shared expert comes last.
void ForwardPass::joinExperts() {
  const MixtureConfig& m = config_.mixture;
  const int dim = config_.dim;
  split(rows_, [&](int begin, int end) {
    std::vector<const float*> outputs(m.used + 1);
    std::vector<float> weights(m.used + 1);
    for (int row = begin; row < end; ++row) {
      int count = 0;
      for (; count < m.used; ++count) {
        const int i = row * m.used + count;
        outputs[count] = a_.expertOut.data() + static_cast<std::size_t>(place_[i]) * dim;
        weights[count] = expertWeights_[i];
      }
      if (m.sharedFeedForward > 0) {
        outputs[count] = a_.expertIn.data() + static_cast<std::size_t>(row) * dim;
        weights[count++] = 1.0f / (1.0f + kernels::exp(0.0f - a_.routing[row]));
      }
      kernels_.joinExperts(outputs.data(), weights.data(), count, dim,
                           a_.projected.data() + static_cast<std::size_t>(row) * dim);
    }
  });
}

}  // namespace tandem
