// The llama architecture: pre-norm attention with rotated queries and keys, and a gated feed-forward. And its
// followers qwen3 and qwen3moe, which norm each query and key head first; qwen3moe's feed-forward is a
// mixture.
#include "engine/model/forward_pass.h"

namespace tandem {

void forwardLlama(ForwardPass& pass) {
  const ModelConfig& c = pass.config();
  Activations& a = pass.activations();
  pass.embed();
  for (int i = 0; i < c.layers && pass.goesOn(i); ++i) {
    const LayerWeights& w = pass.weights().layers[i];
    pass.norm(a.x.data(), w.attentionNorm, a.normed.data(), c.dim);
    pass.project(a.normed.data(), c.dim, {{w.q, a.q.data()}, {w.k, a.k.data()}, {w.v, a.v.data()}});
    if (c.normsHeads()) {
      pass.normHeads(a.q.data(), c.heads, w.qNorm);
      pass.normHeads(a.k.data(), c.kvHeads, w.kNorm);
    }
    pass.rope(a.q.data(), c.heads, false);
    pass.rope(a.k.data(), c.kvHeads, false);
    pass.storeKeysAndValues(i);
    pass.attend(i);
    pass.project(a.attention.data(), c.heads * c.headDim, {{w.attentionOut, a.projected.data()}});
    pass.addToResidual(a.projected.data());

    pass.norm(a.x.data(), w.feedForwardNorm, a.normed.data(), c.dim);
    pass.feedForward(w);
    pass.addToResidual(a.projected.data());
  }
}

}  // namespace tandem
