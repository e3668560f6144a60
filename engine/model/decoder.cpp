#include "engine/model/decoder.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <memory>
#include <new>

#include "engine/base/stopwatch.h"
#include "engine/model/forward_pass.h"

namespace tandem {
namespace {

using kernels::kBlock;
using kernels::kLanes;

constexpr int kMinRows = 33;  // a root and 32 drafted rows

constexpr std::size_t kTimedBytes = std::size_t{16} << 20;

// The number of threads with which this machine is fastest now: two logical CPUs may be one core, and a
// neighbour may be busy. More threads must win by 5 % to be taken. Timed is one row through some columns of
// the output head, the largest product. The numbers take turns, so that a busy moment slows them alike, and
// each turn takes other columns where there are enough, so that the caches do not hold them.
int measureThreads(const Model& model, const kernels::KernelSet& kernels, ThreadPool& pool) {
  constexpr int kTurns = 6;
  const kernels::PackedMatrix& head = model.weights().head;
  const int most = pool.size(), k = head.k();
  if (most == 1 || kernels::isFloatFormat(head.format())) return most;
  std::vector<std::int8_t> q(k, 1);
  std::vector<float> d(k / kBlock, 0.01f), s(k / kBlock, 0.32f), out(head.n());
  std::vector<std::int16_t> sums(k / 16, 16);
  const kernels::QuantizedRows row{k, q.data(), d.data(), s.data(), sums.data()};
  const std::size_t groupBytes = head.bytes() / head.groups();
  const int groups = std::clamp(static_cast<int>(kTimedBytes / groupBytes), 1, head.groups());
  const int parts = head.groups() / groups;

  std::map<int, double> leastMs;
  for (int threads = 1; threads <= most; threads = threads < 8 ? threads + 1 : threads * 2)
    leastMs[threads] = 1e9;
  for (int turn = 0, part = 0; turn < kTurns; ++turn) {
    for (auto& [threads, ms] : leastMs) {
      pool.useThreads(threads);
      const int first = part++ % parts * groups;
      const Stopwatch watch;
      splitProduct(pool, 1, groups, [&](int, int, int begin, int end) {
        kernels.matmulQuantized(head, row, 1, first + begin, first + end, out.data(), out.size());
      });
      ms = std::min(ms, watch.ms());
    }
  }
  int best = 1;
  for (const auto& [threads, ms] : leastMs) {
    if (ms < 0.95 * leastMs[best]) best = threads;
  }
  return best;
}

}  // namespace

Activations::Activations(const ModelConfig& c, int rows) {
  const auto size = [rows](int columns) { return static_cast<std::size_t>(rows) * columns; };
  x.resize(size(c.dim));
  normed.resize(size(c.dim));
  q.resize(size(c.heads * c.headDim));
  k.resize(size(c.kvHeads * c.headDim));
  v.resize(size(c.kvHeads * c.headDim));
  attention.resize(size(c.heads * c.headDim));
  const MixtureConfig& m = c.mixture;
  const int feedForward = std::max(c.feedForward, m.sharedFeedForward);
  gate.resize(size(feedForward));
  up.resize(size(feedForward));
  if (c.hybrid()) {
    attentionGate.resize(size(c.heads * c.headDim));
    z.resize(size(c.deltaNet.valueDim()));
    deltaOut.resize(size(c.deltaNet.valueDim()));
  }
  if (c.nextnLayers > 0) {
    hidden.resize(size(c.dim));
    joined.resize(size(2 * c.dim));
  }
  if (m.experts > 0) {
    routing.resize(size(m.experts));
    expertIn.resize(size(m.used * c.dim));
    expertOut.resize(size(m.used * c.dim));
    expertGate.resize(size(m.used * m.feedForward));
    expertUp.resize(size(m.used * m.feedForward));
  }
  projected.resize(size(c.dim));
  cosine.resize(size(c.rope.dims / 2));
  sine.resize(size(c.rope.dims / 2));
  if (c.window > 0) {
    cosineWindowed.resize(size(c.rope.dims / 2));
    sineWindowed.resize(size(c.rope.dims / 2));
  }
  const int widest = std::max({c.nextnLayers > 0 ? 2 * c.dim : c.dim, c.heads * c.headDim, feedForward,
                               c.deltaNet.valueDim(), m.used * c.dim, m.used * m.feedForward});
  quantized.resize(size(widest));
  quantizedD.resize(size(widest / kBlock + 1));
  quantizedS.resize(size(widest / kBlock + 1));
  quantizedSums.resize(size(widest / 16 + 1));
}

Decoder::Decoder(std::shared_ptr<const Model> model, const kernels::KernelSet& kernels, int threads, int rows,
                 const KvLayout& layout, RecurrentState initialState)
    : model_(std::move(model)),
      kernels_(&kernels),
      pool_(threads),
      layout_(layout),
      scratch_(layout, rows),
      initialState_(std::move(initialState)),
      recurrentScratch_(initialState_.layout(), rows),
      activations_(model_->config(), rows) {}

Result<std::unique_ptr<Decoder>> Decoder::create(std::shared_ptr<const Model> model,
                                                 const DecoderOptions& options) {
  const kernels::KernelSet& kernels = options.kernels ? *options.kernels : kernels::bestKernels();
  const int threads = options.threads > 0 ? options.threads : options.machine.cpus();
  const ModelConfig& c = model->config();
  const KvLayout layout{c.cachedLayers(), c.kvHeads, kernels::roundUp(c.headDim, kLanes), options.cacheType};
  const int rows = std::max(options.maxRows > 0 ? options.maxRows : model->prefillRows(), kMinRows);
  try {
    auto state = RecurrentState::initial(recurrentLayout(c));
    if (!state.ok()) return state.error();
    std::unique_ptr<Decoder> decoder(
        new Decoder(std::move(model), kernels, threads, rows, layout, std::move(*state)));
    if (options.threads == 0) decoder->chooseThreads(options.machine);
    return decoder;
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kOutOfMemory, "there is not enough memory to run the model"};
  }
}

void Decoder::chooseThreads(const MachineProbe& machine) {
  const int fastest = measureThreads(*model_, *kernels_, pool_);
  pool_.useThreads(fastest);
  if (pool_.size() > 1) tuner_.emplace(fastest, pool_.size(), machine);
}

Sequence Decoder::newSequence() const {
  const ModelConfig& c = model_->config();
  return {KvSequence(layout_), initialState_, std::vector<float>(c.nextnLayers > 0 ? c.dim : 0)};
}

Status Decoder::forward(const Sequence& sequence, const Batch& batch, std::span<const int> logitRows,
                        const std::atomic<bool>* cancel) {
  const PassPart part{sequence, batch, logitRows};
  return forward({&part, 1}, [cancel] { return cancel && cancel->load(); });
}

Status Decoder::forward(std::span<const PassPart> parts, const std::function<bool()>& stop) {
  const FloatEnvironment environment;
  const bool plain =
      tuner_ && parts.size() == 1 && parts[0].batch.size() == 1 && parts[0].logitRows.size() == 1;
  if (tuner_) pool_.useThreads(plain ? tuner_->begin() : tuner_->threads());
  ForwardPass pass(*this, parts, stop);
  switch (model_->config().architecture) {
    case Architecture::kLlama:
    case Architecture::kQwen3:
    case Architecture::kQwen3Moe:
      forwardLlama(pass);
      break;
    case Architecture::kGemma2:
    case Architecture::kGemma3:
      forwardGemma(pass);
      break;
    case Architecture::kQwen3Next:
    case Architecture::kQwen35:
    case Architecture::kQwen35Moe:
      forwardQwen3Next(pass);
      break;
  }
  pass.head();
  if (plain && pass.status().ok()) tuner_->end();
  return pass.status();
}

Status Decoder::commit(Sequence& sequence, std::span<const int> rows, int part) {
  std::vector<int> ofPass(rows.begin(), rows.end());
  for (int& row : ofPass)
    row += starts_[part].row;
  if (Status s = sequence.recurrent.makeWritable(); !s.ok()) return s;
  if (Status s = sequence.kv.commit(scratch_, ofPass); !s.ok()) return s;
  if (!rows.empty()) {
    advance(sequence.recurrent, ofPass);
    keepHidden(sequence, ofPass.back());
  }
  return {};
}

Status Decoder::read(Sequence& sequence, std::span<const TokenId> tokens, const std::atomic<bool>* cancel,
                     const std::function<void(int done)>& progress) {
  const int total = static_cast<int>(tokens.size());
  for (int done = 0; done < total;) {
    const int count = std::min(maxRows(), total - done);
    const int last = count - 1;
    const std::span<const int> logitRows(&last, done + count == total ? 1 : 0);
    const Batch batch = Batch::chain(tokens.subspan(done, count), sequence.length());
    if (Status s = forward(sequence, batch, logitRows, cancel); !s.ok()) return s;
    if (Status s = commit(sequence, firstRows(count)); !s.ok()) return s;
    done += count;
    if (progress) progress(done);
  }
  return {};
}

void Decoder::keepHidden(Sequence& sequence, int row) const {
  const std::size_t dim = sequence.hidden.size();  // 0 where nothing looks at it
  std::copy_n(activations_.hidden.data() + row * dim, dim, sequence.hidden.data());
}

Status Decoder::forwardNextn(const Sequence& sequence, TokenId token, const std::atomic<bool>* cancel) {
  assert(model_->weights().nextn && sequence.length() > 0);
  const FloatEnvironment environment;
  Batch batch;
  batch.add(token, -1, sequence.length());
  const PassPart part{sequence, batch, {}};
  const std::function<bool()> stop = [cancel] { return cancel && cancel->load(); };
  ForwardPass pass(*this, {&part, 1}, stop);
  forwardQwen3Nextn(pass);
  return pass.status();
}

Status Decoder::commitNextn(Sequence& sequence) {
  const int row = 0;
  if (Status s = sequence.kv.commit(scratch_, {&row, 1}); !s.ok()) return s;
  keepHidden(sequence, row);
  return {};
}

// The updates that a pass over these rows alone would make, from what the pass left in the scratch.
void Decoder::advance(RecurrentState& state, std::span<const int> rows) {
  const DeltaNetConfig& c = model_->config().deltaNet;
  const RecurrentLayout& layout = state.layout();
  if (layout.layers == 0) return;
  const FloatEnvironment environment;
  pool_.parallelFor(layout.layers * c.valueHeads, 1, [&](int begin, int end) {
    for (int unit = begin; unit < end; ++unit) {
      const int layer = unit / c.valueHeads, head = unit % c.valueHeads;
      for (const int row : rows) {
        const float* convolved =
            recurrentScratch_.convolved(layer) + static_cast<std::size_t>(row) * c.channels();
        const std::size_t at = static_cast<std::size_t>(row) * c.valueHeads + head;
        kernels_->deltaStep({.q = nullptr,
                             .k = convolved + c.keyDim() + c.keyHeadOf(head) * c.headDim,
                             .v = convolved + 2 * c.keyDim() + head * c.headDim,
                             .decay = recurrentScratch_.decay(layer)[at],
                             .beta = recurrentScratch_.beta(layer)[at],
                             .headDim = c.headDim,
                             .state = state.matrix(layer, head),
                             .out = nullptr});
      }
    }
  });
  const std::size_t channels = layout.channels;
  const int count = static_cast<int>(rows.size()), fresh = std::min(count, layout.tail);
  for (int layer = 0; layer < layout.layers; ++layer) {
    float* tail = state.tail(layer);
    std::copy(tail + fresh * channels, tail + layout.tailFloats(), tail);
    for (int i = 0; i < fresh; ++i) {
      const float* input = recurrentScratch_.inputs(layer) + rows[count - fresh + i] * channels;
      std::copy(input, input + channels, tail + (layout.tail - fresh + i) * channels);
    }
  }
}

std::span<const float> Decoder::logits(int i, int part) const {
  const auto vocabulary = static_cast<std::size_t>(model_->config().vocabulary);
  return {logits_.data() + vocabulary * (starts_[part].logit + i), vocabulary};
}

}  // namespace tandem
