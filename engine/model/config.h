// The shape of a model, read from its GGUF metadata and checked before anything is allocated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "engine/gguf/file.h"
#include "engine/kernels/kernel_set.h"

namespace tandem {

enum class Architecture { kLlama, kGemma3 };

// How positions turn heads. Frequencies are base^(-2i / dims), divided by the model's own factors where it
// has any.
struct RopeConfig {
  bool adjacentPairs = true;      // elements (2i, 2i + 1), else (i, i + dims / 2)
  int dims = 0;                   // leading elements of a head that turn
  double base = 10000.0;          // of layers that see everything
  double baseWindowed = 10000.0;  // of layers with a sliding window
  double positionScale = 1.0;     // positions are multiplied by this in layers that see everything
};

struct ModelConfig {
  Architecture architecture = Architecture::kLlama;
  std::string architectureName;
  std::string name;  // general.name, may be empty
  int layers = 0;
  int dim = 0;  // embedding length
  int heads = 0;
  int kvHeads = 0;  // divides heads
  int headDim = 0;  // of queries, keys and values alike
  int feedForward = 0;
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

  int headsPerKv() const { return heads / kvHeads; }
  int windowOf(int layer) const { return windowedLayer[layer] ? window : 0; }  // 0: sees everything
  // Multiply-adds of one layer for one row, attention excluded.
  double layerMultiplyAdds() const;

  // Errors: kUnsupported (architecture or feature by name), kCorruptFile (the field that cannot be).
  static Result<ModelConfig> read(const gguf::File& file);
};

}  // namespace tandem
