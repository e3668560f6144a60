// The hybrids qwen3next, qwen35 and qwen35moe: most layers follow the gated delta rule, the others are
// attention with a gated output; the feed-forward is dense (qwen35) or a mixture with a shared expert.
#include "engine/model/forward_pass.h"

namespace tandem {
namespace {

void gatedAttention(ForwardPass& pass, int layer) {
  const ModelConfig& c = pass.config();
  const LayerWeights& w = pass.weights().layers[layer];
  Activations& a = pass.activations();
  pass.project(
      a.normed.data(), c.dim,
      {{w.q, a.q.data()}, {w.attentionGate, a.attentionGate.data()}, {w.k, a.k.data()}, {w.v, a.v.data()}});
  pass.normHeads(a.q.data(), c.heads, w.qNorm);
  pass.normHeads(a.k.data(), c.kvHeads, w.kNorm);
  pass.rope(a.q.data(), c.heads, false);
  pass.rope(a.k.data(), c.kvHeads, false);
  pass.storeKeysAndValues(layer);
  pass.attend(layer);
  pass.gateAttention();
  pass.project(a.attention.data(), c.heads * c.headDim, {{w.attentionOut, a.projected.data()}});
}

}  // namespace

void forwardQwen3Next(ForwardPass& pass) {
  const ModelConfig& c = pass.config();
  Activations& a = pass.activations();
  pass.embed();
  for (int i = 0; i < c.layers && pass.goesOn(i); ++i) {
    const LayerWeights& w = pass.weights().layers[i];
    pass.norm(a.x.data(), w.attentionNorm, a.normed.data(), c.dim);
    c.recurrentLayer[i] ? pass.deltaNet(i) : gatedAttention(pass, i);
    pass.addToResidual(a.projected.data());

    pass.norm(a.x.data(), w.feedForwardNorm, a.normed.data(), c.dim);
    pass.feedForward(w);
    pass.addToResidual(a.projected.data());
  }
}

}  // namespace tandem
