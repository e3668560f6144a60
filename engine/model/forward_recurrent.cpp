// The steps of recurrent layers: projections, a short convolution along the row's own path, and the gated
// delta rule token by token (rule 6 of docs/arithmetic.md).
#include <algorithm>
#include <cassert>
#include <cmath>

#include "engine/kernels/math32.h"
#include "engine/kernels/math64.h"
#include "engine/model/forward_pass.h"

namespace tandem {

void ForwardPass::deltaNet(int layer) {
  const DeltaNetWeights& w = weights_.layers[layer].deltaNet;
  const DeltaNetConfig& c = config_.deltaNet;
  const int slot = config_.slotOf(layer);
  RecurrentScratch& scratch = d_.recurrentScratch_;
  project(a_.normed.data(), config_.dim,
          {{w.qkv, scratch.inputs(slot)},
           {w.z, a_.z.data()},
           {w.beta, scratch.beta(slot)},
           {w.alpha, scratch.decay(slot)}});
  if (!finite_.load()) return;
  convolve(layer);
  decayAndBeta(layer);
  deltaRule(layer);
  // Each head's output is normed and gated: silu(z) * norm(out).
  split(rows_ * c.valueHeads, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      float* head = a_.deltaOut.data() + static_cast<std::size_t>(i) * c.headDim;
      kernels_.rmsNorm(head, w.norm.data(), c.headDim, config_.normEpsilon, head);
    }
  });
  split(rows_, [&](int begin, int end) {
    const std::size_t at = static_cast<std::size_t>(begin) * c.valueDim();
    kernels_.gatedActivation(a_.z.data() + at, a_.deltaOut.data() + at, (end - begin) * c.valueDim(),
                             kernels::Activation::kSilu);
  });
  project(a_.z.data(), c.valueDim(), {{w.out, a_.projected.data()}});
}

// Convolves each row with the inputs before it on its path, and brings queries and keys to unit length.
void ForwardPass::convolve(int layer) {
  const DeltaNetConfig& c = config_.deltaNet;
  const int slot = config_.slotOf(layer), channels = c.channels();
  const float* weights = weights_.layers[layer].deltaNet.convolution.data();
  const float* inputs = d_.recurrentScratch_.inputs(slot);
  const float unit = 1.0f / std::sqrt(static_cast<float>(c.headDim));
  const float epsilon = config_.normEpsilon / static_cast<float>(c.headDim);
  split(rows_, [&](int begin, int end) {
    std::vector<const float*> in(c.taps);
    for (int row = begin; row < end; ++row) {
      const float* tail = sequenceOf(row).recurrent.tail(slot);
      int t = c.taps - 1;
      for (int r = row; r >= 0 && t >= 0; r = batch_.rows[r].parent, --t)
        in[t] = inputs + static_cast<std::size_t>(r) * channels;
      for (int back = c.taps - 2; t >= 0; --t, --back)
        in[t] = tail + static_cast<std::size_t>(back) * channels;
      float* out = d_.recurrentScratch_.convolved(slot) + static_cast<std::size_t>(row) * channels;
      kernels_.convolve(in.data(), weights, c.taps, channels, out);
      for (int h = 0; h < 2 * c.keyHeads; ++h) {  // rmsNorm / sqrt(n) = x / sqrt(sum + eps)
        float* head = out + static_cast<std::size_t>(h) * c.headDim;
        kernels_.rmsNorm(head, nullptr, c.headDim, epsilon, head);
        kernels_.scale(head, unit, c.headDim);
      }
      kernels_.scale(out, unit, c.keyDim());  // q·k is divided by sqrt(n)
    }
  });
}

// decay = exp(rate * softplus(alpha + timeStep)), beta = sigmoid(beta), per value head.
void ForwardPass::decayAndBeta(int layer) {
  const DeltaNetWeights& w = weights_.layers[layer].deltaNet;
  const int slot = config_.slotOf(layer), heads = config_.deltaNet.valueHeads;
  float* decay = d_.recurrentScratch_.decay(slot);
  float* beta = d_.recurrentScratch_.beta(slot);
  for (int i = 0; i < rows_ * heads; ++i) {
    const double x = static_cast<double>(decay[i] + w.timeStep[i % heads]);
    const double softplus = x > 20.0 ? x : kernels::log64(1.0 + kernels::exp64(x));
    decay[i] = kernels::exp(w.rate[i % heads] * static_cast<float>(softplus));
    beta[i] = 1.0f / (1.0f + kernels::exp(0.0f - beta[i]));
    if (!std::isfinite(decay[i]) || !std::isfinite(beta[i])) finite_.store(false);
  }
}

// A head walks the tree depth first. Its state goes along the path in place; where the tree branches a copy
// waits for the next child.
void ForwardPass::deltaRule(int layer) {
  if (!finite_.load()) return;
  const DeltaNetConfig& c = config_.deltaNet;
  const int slot = config_.slotOf(layer);
  RecurrentScratch& scratch = d_.recurrentScratch_;
  const std::size_t size = static_cast<std::size_t>(c.headDim) * c.headDim;
  d_.pool_.parallelFor(c.valueHeads, 1, [&](int begin, int end) {
    std::vector<float> state(size);
    std::vector<std::pair<int, std::vector<float>>> branches;  // row, state after it
    for (int head = begin; head < end; ++head) {
      branches.clear();
      for (int row = 0; row < rows_; ++row) {
        const int parent = batch_.rows[row].parent;
        if (parent < 0) {
          const float* committed = sequenceOf(row).recurrent.matrix(slot, head);
          std::copy(committed, committed + size, state.begin());
        } else if (parent != row - 1) {
          while (!branches.empty() && branches.back().first != parent)
            branches.pop_back();
          assert(!branches.empty() && "rows come in depth-first order");
          state = branches.back().second;
        }
        const float* convolved = scratch.convolved(slot) + static_cast<std::size_t>(row) * c.channels();
        const std::size_t at = static_cast<std::size_t>(row) * c.valueHeads + head;
        kernels_.deltaStep({.q = convolved + c.keyHeadOf(head) * c.headDim,
                            .k = convolved + c.keyDim() + c.keyHeadOf(head) * c.headDim,
                            .v = convolved + 2 * c.keyDim() + head * c.headDim,
                            .decay = scratch.decay(slot)[at],
                            .beta = scratch.beta(slot)[at],
                            .headDim = c.headDim,
                            .state = state.data(),
                            .out = a_.deltaOut.data() + at * c.headDim});
        if (children_[row] > 1) branches.emplace_back(row, state);
      }
    }
  });
}

}  // namespace tandem
