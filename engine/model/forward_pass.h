// The steps of a forward pass, named as the field names them. An architecture's forward() is a page of these.
//
// A ForwardPass lives for one call of Decoder::forward and works on the decoder's activations; every step
// covers the rows of all parts and is split between threads by columns, rows or heads, never along a sum.
// Only attention, recurrent layers and multi-token prediction look at a row's sequence.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <initializer_list>
#include <span>

#include "engine/model/decoder.h"
#include "engine/model/split_product.h"

namespace tandem {

class ForwardPass {
 public:
  // REQUIRES: the parts' sequences and `stop` outlive the pass.
  ForwardPass(Decoder& decoder, std::span<const PassPart> parts, const std::function<bool()>& stop);

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
  void storeKeysAndValues(int layer);        // k and v, rounded to the cache type, into the scratch
  void attend(int layer, int firstKey = 0);  // attention = softmax(q k) v over what each row may see
  void gateAttention();                      // attention *= sigmoid(attentionGate)
  // projected = the gated delta rule over each row's path, from `normed`; the new states wait in the scratch.
  void deltaNet(int layer);
  // projected = the layer's feed-forward of `normed`: dense, or a mixture of experts.
  void feedForward(const LayerWeights& layer);
  void addToResidual(const float* y);  // x += y
  // Logits of the rows of x that the parts want, into the decoder's buffer.
  void head();

  // The multi-token-prediction block.
  void keepHiddenStates();  // hidden = output norm of x; x is free then
  void joinHiddenStates();  // x = join of each row's embedding and the hidden state before it
  void headOfNextn();       // hidden and logits of row 0 of x

  // Whether the pass is to go on: not cancelled, and nothing was found that is not finite. Looked at between
  // layers.
  bool goesOn(int layer);
  Status status() const { return status_; }

 private:
  void buildRope(std::vector<float>& cosine, std::vector<float>& sine, double base, double positionScale);
  void quantize(const float* in, int rows, int k);
  // Rows first … first + rows - 1 of `in` (quantised before, where w is) times columns of w.
  void multiply(const kernels::PackedMatrix& w, const float* in, int first, int rows, int groupBegin,
                int groupEnd, float* out);
  struct Part {  // rows begin … end - 1
    const Sequence& sequence;
    int begin, end;
    bool chain;  // each row follows the one before it
    int rows() const { return end - begin; }
  };
  void addPart(const PassPart& part);
  const Sequence& sequenceOf(int row) const { return parts_[partOf_[row]].sequence; }

  struct VisibleKeys;
  VisibleKeys visibleKeys(const Part& part, int layer, int firstKey) const;
  // Rows row … row + rows - 1 of the pass, which belong to one part, and one KV head.
  kernels::AttentionJob attentionJob(const VisibleKeys& keys, int row, int rows, int kvHead);
  void attendInParts(std::vector<kernels::AttentionJob>& jobs, int tilesOfPart);
  void logitsOf(const float* normed, int count, const kernels::PackedMatrix& w);
  void gatedActivation(float* gate, const float* up, int rows, int width);  // gate = activation(gate) * up
  void convolve(int layer);
  void decayAndBeta(int layer);
  void deltaRule(int layer);

  struct Pick {  // an expert's work for a row
    int row;
    int rank;
  };
  void mixture(const MixtureWeights& w);
  void pickExperts();
  struct ExpertProduct {  // one matrix of every expert
    const std::vector<kernels::PackedMatrix>& experts;
    float* out;  // rows in the order of experts
  };
  void multiplyExperts(std::initializer_list<ExpertProduct> products, const float* in);
  void joinExperts();

  // Splits `count` units of about equal cost between the threads.
  template <class Body>
  void split(int count, Body&& body) {
    const int chunks = d_.pool_.threads() * 4;
    d_.pool_.parallelFor(count, (count + chunks - 1) / chunks, body);
  }

  // The same for rows of `width` elements that cost little each: a thread takes thousands of elements or
  // none.
  template <class Body>
  void splitRows(int rows, int width, Body&& body) {
    const int chunks = d_.pool_.threads() * 4;
    d_.pool_.parallelFor(rows, std::max((rows + chunks - 1) / chunks, 16384 / width + 1), body);
  }

  Decoder& d_;
  Activations& a_;
  const ModelConfig& config_;
  const Weights& weights_;
  const kernels::KernelSet& kernels_;
  const std::function<bool()>& stop_;
  std::vector<Part> parts_;
  Batch batch_;                      // the rows of all parts, one part after the other
  std::vector<int> partOf_;          // per row
  std::vector<int> logitRows_;       // of batch_
  int rows_ = 0;                     // of batch_
  std::vector<int> children_;        // per row, how many rows follow it
  std::vector<double> frequencies_;  // of RoPE's pairs
  kernels::QuantizedRows int8_;
  std::vector<std::vector<Pick>> picks_;  // per expert
  std::vector<float> expertWeights_;      // (rows * used), by rank
  std::vector<int> place_;  // (rows * used): where a row's expert of a rank stands in that order
  std::atomic<bool> finite_{true};
  Status status_;
};

// One function per family of architectures, each in its own file.
void forwardLlama(ForwardPass& pass);
void forwardGemma(ForwardPass& pass);
void forwardQwen3Next(ForwardPass& pass);
// The multi-token-prediction block of the last, on a batch of one row.
void forwardQwen3Nextn(ForwardPass& pass);

}  // namespace tandem
