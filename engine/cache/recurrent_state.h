// The state of recurrent layers: for each of them the last inputs of its convolution and one matrix per value
// head. Unlike keys and values it can't be cut back to an earlier position, so it is changed by commit alone.
//
// A RecurrentState is one block of floats that forks share until one of them is committed to. What a forward
// pass computes for its rows waits in a RecurrentScratch; a commit replays the updates of the accepted path
// from there, so the state is the one that the same tokens give one by one (docs/arithmetic.md, rule 6).
// Threads: as KvSequence.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/status.h"

namespace tandem {

// Shape of the state of one model. All zero for a model without recurrent layers.
struct RecurrentLayout {
  int layers = 0;
  int channels = 0;    // of the convolution
  int tail = 0;        // inputs that the convolution looks back at: its taps less one
  int valueHeads = 0;  // each with a matrix (headDim, headDim): row = key element, column = value element
  int headDim = 0;

  std::size_t tailFloats() const { return static_cast<std::size_t>(tail) * channels; }
  std::size_t matrixFloats() const { return static_cast<std::size_t>(headDim) * headDim; }
  std::size_t layerFloats() const { return tailFloats() + valueHeads * matrixFloats(); }
  std::size_t bytes() const { return layers * layerFloats() * sizeof(float); }
  // What a pass leaves of one row in a RecurrentScratch.
  std::size_t scratchBytesPerRow() const {
    return static_cast<std::size_t>(layers) * 2 * (channels + valueHeads) * sizeof(float);
  }
  bool operator==(const RecurrentLayout&) const = default;
};

class RecurrentState {
 public:
  RecurrentState() = default;  // of a model without recurrent layers
  // The state before the first token: all zero.
  static Result<RecurrentState> initial(const RecurrentLayout& layout);
  const RecurrentLayout& layout() const { return layout_; }

  const float* tail(int layer) const {
    return data_.get() + layer * layout_.layerFloats();
  }  // (tail, channels)
  const float* matrix(int layer, int head) const {
    return tail(layer) + layout_.tailFloats() + head * layout_.matrixFloats();
  }
  float* tail(int layer) { return data_.get() + layer * layout_.layerFloats(); }
  float* matrix(int layer, int head) {
    return tail(layer) + layout_.tailFloats() + head * layout_.matrixFloats();
  }

  // Gives this state a block of its own before it is written to. Error: kOutOfMemory, unchanged then.
  Status makeWritable();

  // The whole state, for snapshots: layer by layer the tail, oldest input first, then the matrices.
  std::span<const std::byte> bytes() const;
  // Takes over a snapshot. Errors: kInvalidArgument (another size), kOutOfMemory.
  Status restore(std::span<const std::byte> snapshot);

 private:
  RecurrentLayout layout_;
  std::shared_ptr<float[]> data_;
};

// What a pass leaves for its rows, of each recurrent layer.
class RecurrentScratch {
 public:
  RecurrentScratch(const RecurrentLayout& layout, int rows);

  float* inputs(int layer) { return inputs_.data() + plane(layer) * layout_.channels; }  // (rows, channels)
  float* convolved(int layer) {
    return convolved_.data() + plane(layer) * layout_.channels;
  }                                                                                      // (rows, channels)
  float* decay(int layer) { return decay_.data() + plane(layer) * layout_.valueHeads; }  // (rows, valueHeads)
  float* beta(int layer) { return beta_.data() + plane(layer) * layout_.valueHeads; }    // (rows, valueHeads)
  const RecurrentLayout& layout() const { return layout_; }

 private:
  std::size_t plane(int layer) const { return static_cast<std::size_t>(layer) * rows_; }
  RecurrentLayout layout_;
  int rows_;
  std::vector<float> inputs_, convolved_, decay_, beta_;
};

}  // namespace tandem
