#include "engine/model/weights.h"

#include "engine/model/tensor_reader.h"

namespace tandem {
namespace {

// Rows [begin, begin + length) of each of `count` pieces of `stride` rows.
std::vector<int> everyPiece(int count, int stride, int begin, int length) {
  std::vector<int> rows;
  for (int piece = 0; piece < count; ++piece) {
    for (int i = 0; i < length; ++i)
      rows.push_back(piece * stride + begin + i);
  }
  return rows;
}

void readAttention(TensorReader& in, const ModelConfig& c, const std::string& block, LayerWeights& layer) {
  const int width = c.heads * c.headDim;
  if (c.hybrid()) {  // each head's query is followed by its gate
    layer.q = in.rowsOf(block + "attn_q", 2 * width, c.dim, everyPiece(c.heads, 2 * c.headDim, 0, c.headDim));
    layer.attentionGate = in.rowsOf(block + "attn_q", 2 * width, c.dim,
                                    everyPiece(c.heads, 2 * c.headDim, c.headDim, c.headDim));
  } else {
    layer.q = in.linear(block + "attn_q", width, c.dim);
  }
  layer.k = in.linear(block + "attn_k", c.kvHeads * c.headDim, c.dim);
  layer.v = in.linear(block + "attn_v", c.kvHeads * c.headDim, c.dim);
  layer.attentionOut = in.linear(block + "attn_output", c.dim, width);
  if (c.normsHeads()) {
    layer.qNorm = in.vector(block + "attn_q_norm.weight", c.headDim);
    layer.kNorm = in.vector(block + "attn_k_norm.weight", c.headDim);
  }
}

void readDeltaNet(TensorReader& in, const ModelConfig& c, const std::string& block, DeltaNetWeights& w) {
  const DeltaNetConfig& d = c.deltaNet;
  const int perKey = d.valueHeads / d.keyHeads;
  if (in.has(block + "ssm_in.weight")) {
    // Older files: per key head its query, its key, then the values and the gates of its value heads.
    const int values = perKey * d.headDim, stride = 2 * d.headDim + 2 * values, all = d.keyHeads * stride;
    std::vector<int> rows = everyPiece(d.keyHeads, stride, 0, d.headDim);
    for (const int row : everyPiece(d.keyHeads, stride, d.headDim, d.headDim))
      rows.push_back(row);
    for (const int row : everyPiece(d.keyHeads, stride, 2 * d.headDim, values))
      rows.push_back(row);
    w.qkv = in.rowsOf(block + "ssm_in", all, c.dim, rows);
    w.z = in.rowsOf(block + "ssm_in", all, c.dim,
                    everyPiece(d.keyHeads, stride, 2 * d.headDim + values, values));
  } else {
    w.qkv = in.linear(block + "attn_qkv", d.channels(), c.dim);
    w.z = in.linear(block + "attn_gate", d.valueDim(), c.dim);
  }
  if (c.architecture ==
      Architecture::kQwen3Next) {  // per key head the betas of its value heads, then the alphas
    w.beta =
        in.rowsOf(block + "ssm_ba", 2 * d.valueHeads, c.dim, everyPiece(d.keyHeads, 2 * perKey, 0, perKey));
    w.alpha = in.rowsOf(block + "ssm_ba", 2 * d.valueHeads, c.dim,
                        everyPiece(d.keyHeads, 2 * perKey, perKey, perKey));
  } else {
    w.beta = in.linear(block + "ssm_beta", d.valueHeads, c.dim);
    w.alpha = in.linear(block + "ssm_alpha", d.valueHeads, c.dim);
  }
  const std::vector<float> taps =
      in.numbers(block + "ssm_conv1d.weight",
                 {static_cast<std::uint64_t>(d.taps), static_cast<std::uint64_t>(d.channels())}, d.taps);
  w.convolution.resize(taps.size());
  for (std::size_t i = 0; i < taps.size(); ++i)
    w.convolution[i % d.taps * d.channels() + i / d.taps] = taps[i];
  w.timeStep = in.vector(block + "ssm_dt.bias", d.valueHeads);
  w.rate = in.vector(block + "ssm_a", d.valueHeads);
  w.norm = in.vector(block + "ssm_norm.weight", d.headDim);
  w.out = in.linear(block + "ssm_out", c.dim, d.valueDim());
}

void readMixture(TensorReader& in, const ModelConfig& c, const std::string& block, MixtureWeights& w) {
  const MixtureConfig& m = c.mixture;
  w.router = in.linear(block + "ffn_gate_inp", m.experts, c.dim);
  const std::string joined = block + "ffn_gate_up_exps.weight";
  if (in.has(joined)) {
    w.gate = in.experts(joined, m.experts, 2 * m.feedForward, 0, m.feedForward, c.dim);
    w.up = in.experts(joined, m.experts, 2 * m.feedForward, m.feedForward, m.feedForward, c.dim);
  } else {
    w.gate = in.experts(block + "ffn_gate_exps.weight", m.experts, m.feedForward, 0, m.feedForward, c.dim);
    w.up = in.experts(block + "ffn_up_exps.weight", m.experts, m.feedForward, 0, m.feedForward, c.dim);
  }
  w.down = in.experts(block + "ffn_down_exps.weight", m.experts, c.dim, 0, c.dim, m.feedForward);
  if (m.sharedFeedForward == 0) return;
  w.sharedRouter.weight = in.oneRow(block + "ffn_gate_inp_shexp.weight", c.dim);
  w.sharedGate = in.linear(block + "ffn_gate_shexp", m.sharedFeedForward, c.dim);
  w.sharedUp = in.linear(block + "ffn_up_shexp", m.sharedFeedForward, c.dim);
  w.sharedDown = in.linear(block + "ffn_down_shexp", c.dim, m.sharedFeedForward);
}

LayerWeights readLayer(TensorReader& in, const ModelConfig& c, int index) {
  const std::string block = "blk." + std::to_string(index) + ".";
  LayerWeights layer;
  layer.attentionNorm = in.vector(block + "attn_norm.weight", c.dim);
  if (index < c.layers && c.recurrentLayer[index]) {
    readDeltaNet(in, c, block, layer.deltaNet);
  } else {
    readAttention(in, c, block, layer);
  }
  // Hybrids call the norm before the feed-forward the one after attention.
  layer.feedForwardNorm =
      in.vector(block + (c.hybrid() ? "post_attention_norm.weight" : "ffn_norm.weight"), c.dim);
  if (c.architecture == Architecture::kGemma2 || c.architecture == Architecture::kGemma3) {
    layer.postAttentionNorm = in.vector(block + "post_attention_norm.weight", c.dim);
    layer.postFeedForwardNorm = in.vector(block + "post_ffw_norm.weight", c.dim);
  }
  if (c.mixture.experts > 0) {
    readMixture(in, c, block, layer.mixture);
  } else {
    layer.gate = in.linear(block + "ffn_gate", c.feedForward, c.dim);
    layer.up = in.linear(block + "ffn_up", c.feedForward, c.dim);
    layer.down = in.linear(block + "ffn_down", c.dim, c.feedForward);
  }
  return layer;
}

NextnWeights readNextn(TensorReader& in, const ModelConfig& c) {
  const std::string block = "blk." + std::to_string(c.layers) + ".nextn.";
  NextnWeights w;
  w.layer = readLayer(in, c, c.layers);
  w.embeddingNorm = in.vector(block + "enorm.weight", c.dim);
  w.hiddenNorm = in.vector(block + "hnorm.weight", c.dim);
  w.join = in.linear(block + "eh_proj", c.dim, 2 * c.dim);
  const bool ownNorm = in.has(block + "shared_head_norm.weight");
  w.headNorm = in.vector(ownNorm ? block + "shared_head_norm.weight" : "output_norm.weight", c.dim);
  if (in.has(block + "shared_head_head.weight"))
    w.head = in.matrix(block + "shared_head_head.weight", c.vocabulary, c.dim);
  return w;
}

Weights readWeights(TensorReader& in, const ModelConfig& c, const std::function<void(double)>& progress) {
  Weights w;
  w.embedding = in.embedding("token_embd.weight", c.vocabulary, c.dim);
  w.outputNorm = in.vector("output_norm.weight", c.dim);
  if (in.has("rope_freqs.weight")) w.ropeFactors = in.vector("rope_freqs.weight", c.rope.dims / 2);
  for (int i = 0; i < c.layers && in.status().ok(); ++i) {
    w.layers.push_back(readLayer(in, c, i));
    if (progress) progress(static_cast<double>(i + 1) / (c.layers + 1));
  }
  if (c.nextnLayers > 0) w.nextn = readNextn(in, c);
  w.head = in.matrix(in.has("output.weight") ? "output.weight" : "token_embd.weight", c.vocabulary, c.dim);
  if (progress && in.status().ok()) progress(1.0);
  return w;
}

}  // namespace

Result<WeightLayout> Weights::layout(const gguf::File& file, const ModelConfig& config) {
  TensorReader in(file);
  readWeights(in, config, {});
  if (!in.status().ok()) return in.status().error();
  return in.layout();
}

Result<Weights> Weights::load(const gguf::File& file, const ModelConfig& config, const WeightMemory& memory,
                              ThreadPool& pool, const std::function<void(double fraction)>& progress) {
  TensorReader in(file, memory, pool);
  Weights weights = readWeights(in, config, progress);
  if (!in.status().ok()) return in.status().error();
  weights.bytes = memory.bytes;
  return weights;
}

}  // namespace tandem
