// The gemma3 architecture: as llama, with scaled embeddings, norms of each query and key head, norms after
// attention and feed-forward too, sliding windows in most layers with a RoPE base of their own, and GELU.
#include "engine/model/forward_pass.h"

namespace tandem {

void forwardGemma(ForwardPass& pass) {
  const ModelConfig& c = pass.config();
  Activations& a = pass.activations();
  pass.embed();
  for (int i = 0; i < c.layers && pass.goesOn(i); ++i) {
    const LayerWeights& w = pass.weights().layers[i];
    const bool windowed = c.windowedLayer[i];
    pass.norm(a.x.data(), w.attentionNorm, a.normed.data(), c.dim);
    pass.project(a.normed.data(), c.dim, {{w.q, a.q.data()}, {w.k, a.k.data()}, {w.v, a.v.data()}});
    if (c.normsHeads()) {
      pass.normHeads(a.q.data(), c.heads, w.qNorm);
      pass.normHeads(a.k.data(), c.kvHeads, w.kNorm);
    }
    pass.rope(a.q.data(), c.heads, windowed);
    pass.rope(a.k.data(), c.kvHeads, windowed);
    pass.storeKeysAndValues(i);
    pass.attend(i);
    pass.project(a.attention.data(), c.heads * c.headDim, {{w.attentionOut, a.projected.data()}});
    pass.norm(a.projected.data(), w.postAttentionNorm, a.projected.data(), c.dim);
    pass.addToResidual(a.projected.data());

    pass.norm(a.x.data(), w.feedForwardNorm, a.normed.data(), c.dim);
    pass.feedForward(w);
    pass.norm(a.projected.data(), w.postFeedForwardNorm, a.projected.data(), c.dim);
    pass.addToResidual(a.projected.data());
  }
}

}  // namespace tandem
