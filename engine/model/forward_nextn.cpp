// The steps of the multi-token-prediction block. Row n joins the embedding of its token with the hidden state
// of the position before it, and predicts the token after it without the layers of the model.
#include <cstring>

#include "engine/model/forward_pass.h"

namespace tandem {

void ForwardPass::keepHiddenStates() {
  norm(a_.x.data(), weights_.outputNorm, a_.hidden.data(), config_.dim);
}

void ForwardPass::joinHiddenStates() {
  const NextnWeights& w = *weights_.nextn;
  const std::size_t dim = config_.dim;
  embed();
  split(rows_, [&](int begin, int end) {
    for (int row = begin; row < end; ++row) {
      const int parent = batch_.rows[row].parent;
      const float* before = parent < 0 ? sequenceOf(row).hidden.data() : a_.hidden.data() + parent * dim;
      float* joined = a_.joined.data() + 2 * row * dim;
      kernels_.rmsNorm(a_.x.data() + row * dim, w.embeddingNorm.data(), config_.dim, config_.normEpsilon,
                       joined);
      kernels_.rmsNorm(before, w.hiddenNorm.data(), config_.dim, config_.normEpsilon, joined + dim);
    }
  });
  project(a_.joined.data(), 2 * config_.dim, {{w.join, a_.x.data()}});
}

void ForwardPass::headOfNextn() {
  const NextnWeights& w = *weights_.nextn;
  if (!goesOn(config_.layers)) return;
  kernels_.rmsNorm(a_.x.data(), w.headNorm.data(), config_.dim, config_.normEpsilon, a_.hidden.data());
  logitsOf(a_.hidden.data(), 1, w.head ? *w.head : weights_.head);
}

}  // namespace tandem
