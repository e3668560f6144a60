// The hybrids qwen3next, qwen35 and qwen35moe: most layers follow the gated delta rule, the others are
// attention with a gated output; the feed-forward is dense (qwen35) or a mixture with a shared expert. Where
// the file has one, a multi-token-prediction block of the same kind follows the layers.
#include "engine/model/forward_pass.h"

namespace tandem {
namespace {

void keysAndValues(ForwardPass& pass, int layer, const LayerWeights& w) {
  const ModelConfig& c = pass.config();
  Activations& a = pass.activations();
  pass.project(a.normed.data(), c.dim, {{w.k, a.k.data()}, {w.v, a.v.data()}});
  pass.normHeads(a.k.data(), c.kvHeads, w.kNorm);
  pass.rope(a.k.data(), c.kvHeads, false);
  pass.storeKeysAndValues(layer);
}

void gatedAttention(ForwardPass& pass, int layer, const LayerWeights& w, int firstKey) {
  const ModelConfig& c = pass.config();
  Activations& a = pass.activations();
  pass.project(a.normed.data(), c.dim, {{w.q, a.q.data()}, {w.attentionGate, a.attentionGate.data()}});
  pass.normHeads(a.q.data(), c.heads, w.qNorm);
  pass.rope(a.q.data(), c.heads, false);
  keysAndValues(pass, layer, w);
  pass.attend(layer, firstKey);
  pass.gateAttention();
  pass.project(a.attention.data(), c.heads * c.headDim, {{w.attentionOut, a.projected.data()}});
}

void feedForward(ForwardPass& pass, const LayerWeights& w) {
  Activations& a = pass.activations();
  pass.norm(a.x.data(), w.feedForwardNorm, a.normed.data(), pass.config().dim);
  pass.feedForward(w);
  pass.addToResidual(a.projected.data());
}

}  // namespace

void forwardQwen3Next(ForwardPass& pass) {
  const ModelConfig& c = pass.config();
  Activations& a = pass.activations();
  pass.embed();
  for (int i = 0; i < c.layers && pass.goesOn(i); ++i) {
    const LayerWeights& w = pass.weights().layers[i];
    pass.norm(a.x.data(), w.attentionNorm, a.normed.data(), c.dim);
    c.recurrentLayer[i] ? pass.deltaNet(i) : gatedAttention(pass, i, w, 0);
    pass.addToResidual(a.projected.data());
    feedForward(pass, w);
  }
  if (!pass.weights().nextn || !pass.goesOn(c.layers)) return;
  // The prediction block's keys and values of every row, so that it can look back at all that is committed.
  const LayerWeights& w = pass.weights().nextn->layer;
  pass.keepHiddenStates();
  pass.joinHiddenStates();
  pass.norm(a.x.data(), w.attentionNorm, a.normed.data(), c.dim);
  keysAndValues(pass, c.layers, w);
}

void forwardQwen3Nextn(ForwardPass& pass) {
  const ModelConfig& c = pass.config();
  const LayerWeights& w = pass.weights().nextn->layer;
  Activations& a = pass.activations();
  pass.joinHiddenStates();
  pass.norm(a.x.data(), w.attentionNorm, a.normed.data(), c.dim);
  gatedAttention(pass, c.layers, w, 1);  // nothing is known before the first token
  pass.addToResidual(a.projected.data());
  feedForward(pass, w);
  pass.headOfNextn();
}

}  // namespace tandem
