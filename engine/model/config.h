// The shape of a model, read from its GGUF metadata and checked before anything is allocated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "engine/cache/recurrent_state.h"
#include "engine/gguf/file.h"
#include "engine/kernels/kernel_set.h"

namespace tandem {

enum class Architecture { kLlama, kGemma2, kGemma3, kQwen3, kQwen3Moe, kQwen3Next, kQwen35, kQwen35Moe };

// How positions turn heads. Frequencies are base^(-2i / dims), divided by the model's own factors where it
// has any.
struct RopeConfig {
  bool adjacentPairs = true;      // elements (2i, 2i + 1), else (i, i + dims / 2)
  int dims = 0;                   // leading elements of a head that turn
  double base = 10000.0;          // of layers that see everything
  double baseWindowed = 10000.0;  // of layers with a sliding window
  double positionScale = 1.0;     // positions are multiplied by this in layers that see everything
};

// Layers that carry a matrix state instead of keys and values: a gated delta rule behind a short convolution.
struct DeltaNetConfig {
  int keyHeads = 0;
  int valueHeads = 0;  // a multiple of keyHeads
  int headDim = 0;     // of keys and values alike; a head's state is headDim x headDim
  int taps = 0;        // of the convolution, the row's own included
  // Value head i reads key head i / (valueHeads / keyHeads), else i mod keyHeads.
  bool repeatsInPlace = false;

  int keyDim() const { return keyHeads * headDim; }
  int valueDim() const { return valueHeads * headDim; }
  int channels() const { return 2 * keyDim() + valueDim(); }  // queries, keys, values: what is convolved
  int keyHeadOf(int valueHead) const {
    return repeatsInPlace ? valueHead / (valueHeads / keyHeads) : valueHead % keyHeads;
  }
};

// A feed-forward of many experts, of which a router picks a few for each row.
struct MixtureConfig {
  int experts = 0;  // 0: the feed-forward is dense
  int used = 0;     // experts of one row
  int feedForward = 0;
  int sharedFeedForward = 0;  // of the expert that every row uses; 0: there is none
};

struct ModelConfig {
  Architecture architecture = Architecture::kLlama;
  std::string architectureName;
  std::string name;  // general.name, may be empty
  int layers = 0;
  int dim = 0;  // embedding length
  int heads = 0;
  int kvHeads = 0;      // divides heads
  int headDim = 0;      // of queries, keys and values alike
  int feedForward = 0;  // 0 where every layer is a mixture
  int vocabulary = 0;
  int contextLength = 0;  // tokens the model was made for
  float normEpsilon = 0;
  float attentionScale = 0;    // q·k is multiplied by this
  float attentionSoftCap = 0;  // 0: none
  float finalSoftCap = 0;      // 0: none
  float embeddingScale = 1;    // embeddings are multiplied by this
  kernels::Activation activation = kernels::Activation::kSilu;
  RopeConfig rope;
  int window = 0;                   // keys a windowed layer sees, its own included
  std::vector<bool> windowedLayer;  // per layer
  DeltaNetConfig deltaNet;
  std::vector<bool> recurrentLayer;  // per layer: a delta-net layer, without keys and values
  MixtureConfig mixture;
  // Blocks after the layers that predict one token more (multi-token prediction); only the first is used.
  int nextnLayers = 0;

  // Whether queries and keys are normed before they turn.
  bool normsHeads() const {
    return architecture != Architecture::kLlama && architecture != Architecture::kGemma2;
  }
  bool hybrid() const { return deltaNet.valueHeads > 0; }
  // Index of a layer among those of its kind: where its keys and values, or its state, are kept. The keys of
  // the multi-token-prediction block (layer == layers) come last.
  int slotOf(int layer) const;
  int attentionLayers() const;
  int cachedLayers() const { return attentionLayers() + (nextnLayers > 0 ? 1 : 0); }
  int recurrentLayers() const { return layers - attentionLayers(); }
  int headsPerKv() const { return heads / kvHeads; }
  int windowOf(int layer) const { return layer < layers && windowedLayer[layer] ? window : 0; }  // 0: none
  // Multiply-adds of one layer for one row, attention excluded.
  double layerMultiplyAdds() const;

  // Errors: kUnsupported (architecture or feature by name), kCorruptFile (the field that cannot be).
  static Result<ModelConfig> read(const gguf::File& file);
};

// The shape of a model's recurrent state.
RecurrentLayout recurrentLayout(const ModelConfig& config);

}  // namespace tandem
