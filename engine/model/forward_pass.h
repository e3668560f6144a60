// The steps of a forward pass, named as the field names them. An architecture's forward() is a page of these.
//
// A ForwardPass lives for one call of Decoder::forward and works on the decoder's activations; every step
// covers all rows of the batch and is split between threads by columns, rows or heads, never along a sum.
#pragma once

#include <atomic>
#include <initializer_list>
#include <span>

#include "engine/model/decoder.h"

namespace tandem {

class ForwardPass {
 public:
  ForwardPass(Decoder& decoder, const KvSequence& sequence, const Batch& batch,
              const std::atomic<bool>* cancel);

  // One matrix product of a step: out (rows, n) = W x + b.
  struct Product {
    const Linear& linear;
    float* out;
  };

  const ModelConfig& config() const { return config_; }
  const Weights& weights() const { return weights_; }
  Activations& activations() { return a_; }

  void embed();  // x = embedding of each token, scaled
  // out = rmsNorm(in) * weight for each row; `width` elements a row.
  void norm(const float* in, const std::vector<float>& weight, float* out, int width);
  // Products that share their input `in` (rows, k); `in` is quantised once.
  void project(const float* in, int k, std::initializer_list<Product> products);
  void normHeads(float* heads, int headsPerRow, const std::vector<float>& weight);
  void rope(float* heads, int headsPerRow, bool windowed);
  void storeKeysAndValues(int layer);  // k and v, rounded to the cache type, into the scratch
  void attend(int layer);              // attention = softmax(q k) v over what each row may see
  void gatedActivation();              // gate = activation(gate) * up
  void addToResidual(const float* y);  // x += y
  // Logits of the chosen rows of x, into the decoder's buffer.
  void head(std::span<const int> logitRows);

  // Whether the pass is to go on: not cancelled, and nothing was found that is not finite. Looked at between
  // layers.
  bool goesOn(int layer);
  Status status() const { return status_; }

 private:
  void buildRope(std::vector<float>& cosine, std::vector<float>& sine, double base, double positionScale);
  void quantize(const float* in, int rows, int k);
  void multiply(const kernels::PackedMatrix& w, const float* in, int rows, int groupBegin, int groupEnd,
                float* out);
  // Splits `count` units of about equal cost between the threads.
  template <class Body>
  void split(int count, Body&& body);

  Decoder& d_;
  Activations& a_;
  const ModelConfig& config_;
  const Weights& weights_;
  const kernels::KernelSet& kernels_;
  const KvSequence& sequence_;
  const Batch& batch_;
  const std::atomic<bool>* cancel_;
  const int rows_;
  kernels::QuantizedRows int8_;
  std::atomic<bool> finite_{true};
  Status status_;
};

// One function per architecture, each in its own file.
void forwardLlama(ForwardPass& pass);
void forwardGemma3(ForwardPass& pass);

}  // namespace tandem
