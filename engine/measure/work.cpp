#include "engine/measure/work.h"

#include <algorithm>

namespace tandem::measure {
namespace {

using kernels::PackedMatrix;

void add(Work& work, const PackedMatrix& w, int rows) {
  const double products = static_cast<double>(w.n()) * w.k() * rows;
  (kernels::isFloatFormat(w.format()) ? work.fp32 : work.int8) += products;
  if (rows > 0) work.bytes += static_cast<double>(w.bytes());
}

}  // namespace

Work& Work::operator+=(const Work& other) {
  int8 += other.int8;
  fp32 += other.fp32;
  bytes += other.bytes;
  return *this;
}

std::vector<const PackedMatrix*> matricesOf(const ModelConfig& config, const LayerWeights& layer) {
  const DeltaNetWeights& d = layer.deltaNet;
  const MixtureWeights& m = layer.mixture;
  std::vector<const PackedMatrix*> matrices;
  for (const Linear* linear : {&layer.q, &layer.attentionGate, &layer.k, &layer.v, &layer.attentionOut,
                               &d.qkv, &d.z, &d.beta, &d.alpha, &d.out, &layer.gate, &layer.up, &layer.down,
                               &m.router, &m.sharedRouter, &m.sharedGate, &m.sharedUp, &m.sharedDown}) {
    if (!linear->weight.empty()) matrices.push_back(&linear->weight);
  }
  for (const auto* experts : {&m.gate, &m.up, &m.down}) {
    for (std::size_t i = 0; i < experts->size() && i < static_cast<std::size_t>(config.mixture.used); ++i)
      matrices.push_back(&(*experts)[i]);
  }
  return matrices;
}

Work layersWork(const Model& model, int rows) {
  Work work;
  for (const LayerWeights& layer : model.weights().layers) {
    for (const PackedMatrix* matrix : matricesOf(model.config(), layer))
      add(work, *matrix, rows);
  }
  return work;
}

Work headWork(const Model& model, int rows) {
  Work work;
  add(work, model.weights().head, rows);
  return work;
}

double contextBytes(const ModelConfig& config, const KvLayout& layout, int length) {
  double positions = 0;
  for (int layer = 0; layer < config.layers; ++layer) {
    if (config.recurrentLayer[layer]) continue;
    const int window = config.windowOf(layer);
    positions += window > 0 ? std::min(length, window - 1) : length;
  }
  return positions * layout.kvHeads * static_cast<double>(kernels::pairBytes(layout.type, layout.stride)) +
         static_cast<double>(recurrentLayout(config).bytes());
}

Work passWork(const Model& model, const KvLayout& layout, int length, int rows, int logitRows) {
  Work work = layersWork(model, rows);
  work += headWork(model, logitRows);
  work.bytes += contextBytes(model.config(), layout, length);
  return work;
}

Work prefillWork(const Model& model, const KvLayout& layout, int tokens, int maxRows) {
  Work work;
  for (int done = 0; done < tokens; done += maxRows) {
    const int rows = std::min(maxRows, tokens - done);
    work += passWork(model, layout, done, rows, done + rows == tokens ? 1 : 0);
  }
  return work;
}

Work togetherWork(const Model& model, const KvLayout& layout, int count, int promptTokens, int tokens,
                  int maxRows) {
  Work work;
  for (int i = 0; i < count; ++i)
    work += prefillWork(model, layout, promptTokens, maxRows);
  for (int i = 1; i < tokens; ++i) {
    work += passWork(model, layout, 0, count, count);
    work.bytes += count * contextBytes(model.config(), layout, promptTokens + i - 1);
  }
  return work;
}

Work decodeWork(const Model& model, const KvLayout& layout, int length, int tokens) {
  Work work;
  for (int i = 0; i < tokens; ++i)
    work += passWork(model, layout, length + i, 1, 1);
  return work;
}

}  // namespace tandem::measure
