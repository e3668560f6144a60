// Runs the model forward: batch in, logits out, keys and values waiting in the scratch until they are
// committed.
//
// A Decoder owns what one worker needs: a thread pool, the activations (allocated once) and the scratch. One
// thread at a time may call it. The sequence it reads is never changed by forward(); a pass that fails or is
// cancelled leaves nothing behind.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/status.h"
#include "engine/base/thread_pool.h"
#include "engine/base/thread_tuner.h"
#include "engine/cache/sequence.h"
#include "engine/kernels/kernel_set.h"
#include "engine/model/batch.h"
#include "engine/model/model.h"

namespace tandem {

struct DecoderOptions {
  const kernels::KernelSet* kernels = nullptr;  // null: the best of this CPU
  int threads = 0;                              // 0: measured, and again when passes become slow
  kernels::CacheType cacheType = kernels::CacheType::kF16;
  int maxRows = 0;  // of one pass; 0: prefillRows() of the model, at least 33
  MachineProbe machine = MachineProbe::real();
};

// Activations of up to `rows` rows, allocated once. Shapes in (rows, columns).
struct Activations {
  Activations(const ModelConfig& config, int rows);
  std::vector<float> x;                             // (rows, dim): the residual stream
  std::vector<float> normed;                        // (rows, dim)
  std::vector<float> q;                             // (rows, heads * headDim)
  std::vector<float> k, v;                          // (rows, kvHeads * headDim)
  std::vector<float> attention;                     // (rows, heads * headDim)
  std::vector<float> partials;                      // of attention's tiles; as large as was needed so far
  std::vector<float> attentionGate;                 // (rows, heads * headDim), where attention is gated
  std::vector<float> z, deltaOut;                   // (rows, valueDim) of delta-net layers
  std::vector<float> gate, up;                      // (rows, feedForward), the widest of those there are
  std::vector<float> projected;                     // (rows, dim): what is added to x
  std::vector<float> cosine, sine;                  // (rows, rope.dims / 2) for layers that see everything
  std::vector<float> cosineWindowed, sineWindowed;  // the same for windowed layers
  std::vector<float> hidden;                        // (rows, dim), for multi-token prediction
  std::vector<float> joined;                        // (rows, 2 dim), the same
  std::vector<float> routing;                       // (rows, experts)
  std::vector<float> expertIn, expertOut;           // (rows * used, dim), ordered by expert
  std::vector<float> expertGate, expertUp;          // (rows * used, expert feedForward), the same order
  std::vector<std::int8_t> quantized;               // buffers behind `int8`
  std::vector<float> quantizedD, quantizedS;
  std::vector<std::int16_t> quantizedSums;
};

class Decoder {
 public:
  static Result<std::unique_ptr<Decoder>> create(std::shared_ptr<const Model> model,
                                                 const DecoderOptions& options);

  const Model& model() const { return *model_; }
  const kernels::KernelSet& kernels() const { return *kernels_; }
  int threads() const { return tuner_ ? tuner_->threads() : pool_.threads(); }
  int maxRows() const { return scratch_.rows(); }
  Sequence newSequence() const;

  // Computes every row of the batch after `sequence`, and the logits of the rows in `logitRows`. `cancel` may
  // be null and is looked at between layers. REQUIRES: 1 <= batch.size() <= maxRows(); the batch is in
  // depth-first order; tokens lie in the vocabulary. Errors: kCancelled; kNonFinite, with the layer.
  Status forward(const Sequence& sequence, const Batch& batch, std::span<const int> logitRows,
                 const std::atomic<bool>* cancel = nullptr);
  // The same for several sequences in one pass: each row gets the bits that it gets alone (docs/parallel.md).
  // `stop` is asked between layers; true ends the pass with kCancelled. REQUIRES: as above for every part;
  // all rows together are at most maxRows().
  Status forward(std::span<const PassPart> parts, const std::function<bool()>& stop);

  // Logits of the i-th of the logitRows of a part of the last pass: (vocabulary) fp32, until the next pass.
  std::span<const float> logits(int i, int part = 0) const;
  // The token of the highest of these logits, the lowest id of equal ones.
  TokenId best(int i, int part = 0) const { return best_[starts_[part].logit + i]; }

  // Appends rows of a part of the last pass to the sequence it was computed for. REQUIRES: the rows are a
  // path from the batch's root, possibly cut short; or they go on with a path whose beginning was committed
  // before. Error: kOutOfMemory, with the sequence unchanged.
  Status commit(Sequence& sequence, std::span<const int> rows, int part = 0);

  // Reads tokens at the sequence's end, in passes of maxRows(): forwards and commits them; logits(0) are
  // those after the last one. `progress` may be empty and hears how many were read. On an error of forward()
  // or commit() the passes before it stay.
  Status read(Sequence& sequence, std::span<const TokenId> tokens, const std::atomic<bool>* cancel = nullptr,
              const std::function<void(int done)>& progress = {});

  // Multi-token prediction, of a model that has weights().nextn: from the last position's hidden state and
  // the token that follows it, logits(0) of the token after that. commitNextn makes that token the sequence's
  // last position for further predictions; such a sequence is good for nothing else, so work on a fork.
  // REQUIRES: sequence.length() > 0.
  Status forwardNextn(const Sequence& sequence, TokenId token, const std::atomic<bool>* cancel = nullptr);
  Status commitNextn(Sequence& sequence);

 private:
  friend class ForwardPass;
  Decoder(std::shared_ptr<const Model> model, const kernels::KernelSet& kernels, int threads, int rows,
          const KvLayout& layout, RecurrentState initialState);
  void chooseThreads(const MachineProbe& machine);
  void advance(RecurrentState& state, std::span<const int> rows);
  void keepHidden(Sequence& sequence, int row) const;

  std::shared_ptr<const Model> model_;
  const kernels::KernelSet* kernels_;
  ThreadPool pool_;
  std::optional<ThreadTuner> tuner_;  // where the number of threads was left to us
  KvLayout layout_;
  KvScratch scratch_;
  RecurrentState initialState_;  // shared by all new sequences until they are committed to
  RecurrentScratch recurrentScratch_;
  Activations activations_;
  struct PartStart {  // where a part's rows and logits begin among those of the pass
    int row, logit;
  };
  std::vector<PartStart> starts_;  // of the last pass
  std::vector<float> logits_;
  std::vector<TokenId> best_;
};

}  // namespace tandem
