// The weights of a model, ready for the kernels: matrices interleaved, vectors in fp32.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "engine/base/thread_pool.h"
#include "engine/gguf/file.h"
#include "engine/kernels/packed_matrix.h"
#include "engine/model/config.h"
#include "engine/model/weight_cache.h"

namespace tandem {

// y = W x + b.
struct Linear {
  kernels::PackedMatrix weight;  // (n, k)
  std::vector<float> bias;       // (n), or empty
};

// Of a layer whose state follows the gated delta rule.
struct DeltaNetWeights {
  Linear qkv;                      // (channels, dim): queries, keys, values before the convolution
  Linear z;                        // (valueDim, dim): gates the output
  Linear beta, alpha;              // (valueHeads, dim)
  std::vector<float> convolution;  // (taps, channels), oldest input first
  std::vector<float> timeStep;     // (valueHeads): added to alpha
  std::vector<float> rate;         // (valueHeads): decay = exp(rate * softplus(alpha + timeStep))
  std::vector<float> norm;         // (headDim)
  Linear out;                      // (dim, valueDim)
};

// A feed-forward of many experts.
struct MixtureWeights {
  Linear router;                                          // (experts, dim)
  std::vector<kernels::PackedMatrix> gate, up;            // per expert (feedForward, dim)
  std::vector<kernels::PackedMatrix> down;                // per expert (dim, feedForward)
  Linear sharedRouter, sharedGate, sharedUp, sharedDown;  // the shared expert's, where there is one
};

struct LayerWeights {
  std::vector<float> attentionNorm;        // (dim)
  Linear q;                                // (heads * headDim, dim)
  Linear attentionGate;                    // (heads * headDim, dim) where attention is gated
  Linear k, v;                             // (kvHeads * headDim, dim)
  Linear attentionOut;                     // (dim, heads * headDim)
  std::vector<float> qNorm, kNorm;         // (headDim), or empty
  std::vector<float> postAttentionNorm;    // (dim), or empty
  std::vector<float> feedForwardNorm;      // (dim)
  Linear gate, up;                         // (feedForward, dim), of a dense feed-forward
  Linear down;                             // (dim, feedForward)
  std::vector<float> postFeedForwardNorm;  // (dim), or empty
  DeltaNetWeights deltaNet;                // of recurrent layers, which have no q, k, v
  MixtureWeights mixture;                  // of mixtures, which have no gate, up, down
};

// The multi-token-prediction block: from a token and the hidden state before it, the token after it.
struct NextnWeights {
  LayerWeights layer;                            // attention and feed-forward
  std::vector<float> embeddingNorm, hiddenNorm;  // (dim)
  Linear join;                                   // (dim, 2 dim): of the normed embedding and hidden state
  std::vector<float> headNorm;                   // (dim); the model's output norm where the file has none
  std::optional<kernels::PackedMatrix> head;     // (vocabulary, dim); the model's own where there is none
};

// Rows of the embedding, read where the file is mapped.
struct EmbeddingTable {
  kernels::WeightFormat format = kernels::WeightFormat::kF32;
  const std::byte* data = nullptr;  // (vocabulary, dim); the file must outlive it
  std::size_t rowBytes = 0;
};

// What the interleaved matrices lie in.
struct WeightMemory {
  std::shared_ptr<const std::uint8_t> data;  // aligned to a page
  std::uint64_t bytes = 0;
  std::uint8_t* writable = nullptr;  // the same, to be filled; null: it holds them already
};

struct Weights {
  EmbeddingTable embedding;
  std::vector<LayerWeights> layers;
  std::vector<float> outputNorm;  // (dim)
  kernels::PackedMatrix head;     // (vocabulary, dim); the embedding where the file has no output.weight
  std::optional<NextnWeights> nextn;
  std::vector<float> ropeFactors;  // (rope.dims / 2) divisors of the frequencies, or empty
  std::uint64_t bytes = 0;         // of all interleaved matrices

  // How the matrices will lie, by the file's table of tensors alone. Errors name the tensor: kCorruptFile
  // (missing, wrong shape), kUnsupported (type).
  static Result<WeightLayout> layout(const gguf::File& file, const ModelConfig& config);

  // Reads every tensor; the file's pages are given back as it goes. `progress` may be empty. Error:
  // kCorruptFile, a number that is not finite. REQUIRES: the memory is as layout() says.
  static Result<Weights> load(const gguf::File& file, const ModelConfig& config, const WeightMemory& memory,
                              ThreadPool& pool, const std::function<void(double fraction)>& progress = {});
};

}  // namespace tandem
