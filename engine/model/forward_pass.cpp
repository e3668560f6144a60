#include "engine/model/forward_pass.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "engine/kernels/math64.h"

namespace tandem {

using kernels::kBlock;
using kernels::PackedMatrix;

ForwardPass::ForwardPass(Decoder& decoder, std::span<const PassPart> parts, const std::function<bool()>& stop)
    : d_(decoder),
      a_(decoder.activations_),
      config_(decoder.model().config()),
      weights_(decoder.model().weights()),
      kernels_(decoder.kernels()),
      stop_(stop) {
  d_.starts_.clear();
  for (const PassPart& part : parts)
    addPart(part);
  rows_ = batch_.size();
  assert(rows_ >= 1 && rows_ <= d_.maxRows());
  buildRope(a_.cosine, a_.sine, config_.rope.base, config_.rope.positionScale);
  if (config_.window > 0) buildRope(a_.cosineWindowed, a_.sineWindowed, config_.rope.baseWindowed, 1.0);
}

// Appends the part's rows. Their parents are counted in the part, the pass counts them over all parts.
void ForwardPass::addPart(const PassPart& part) {
  const int begin = batch_.size(), index = static_cast<int>(parts_.size());
  d_.starts_.push_back({begin, static_cast<int>(logitRows_.size())});
  children_.resize(begin + part.batch.size(), 0);
  bool chain = true;
  for (BatchRow row : part.batch.rows) {
    if (row.parent >= 0) ++children_[row.parent += begin];
    chain &= batch_.size() == begin ? row.parent < 0 : row.parent == batch_.size() - 1;
    batch_.rows.push_back(row);
    partOf_.push_back(index);
  }
  parts_.push_back({part.sequence, begin, batch_.size(), chain});
  for (const int row : part.logitRows)
    logitRows_.push_back(begin + row);
}

// cos and sin of position * base^(-2i / dims) / factor_i for each row, in double, rounded once.
void ForwardPass::buildRope(std::vector<float>& cosine, std::vector<float>& sine, double base,
                            double positionScale) {
  const int pairs = config_.rope.dims / 2;
  const double logBase = kernels::log64(base);
  frequencies_.resize(pairs);
  for (int i = 0; i < pairs; ++i) {
    frequencies_[i] = kernels::exp64(logBase * (-2.0 * i / config_.rope.dims)) * positionScale;
    if (!weights_.ropeFactors.empty()) frequencies_[i] /= static_cast<double>(weights_.ropeFactors[i]);
  }
  splitRows(rows_, 16 * pairs, [&](int begin, int end) {
    for (int r = begin; r < end; ++r) {
      for (int i = 0; i < pairs; ++i) {
        double s, c;
        kernels::sinCos64(static_cast<double>(batch_.rows[r].position) * frequencies_[i], &s, &c);
        cosine[static_cast<std::size_t>(r) * pairs + i] = static_cast<float>(c);
        sine[static_cast<std::size_t>(r) * pairs + i] = static_cast<float>(s);
      }
    }
  });
}

void ForwardPass::embed() {
  const EmbeddingTable& table = weights_.embedding;
  splitRows(rows_, config_.dim, [&](int begin, int end) {
    for (int r = begin; r < end; ++r) {
      float* x = a_.x.data() + static_cast<std::size_t>(r) * config_.dim;
      kernels::dequantizeRow(table.format, table.data + batch_.rows[r].token * table.rowBytes, config_.dim,
                             x);
      if (config_.embeddingScale != 1.0f) kernels_.scale(x, config_.embeddingScale, config_.dim);
    }
  });
}

void ForwardPass::norm(const float* in, const std::vector<float>& weight, float* out, int width) {
  splitRows(rows_, width, [&](int begin, int end) {
    for (int r = begin; r < end; ++r) {
      const std::size_t at = static_cast<std::size_t>(r) * width;
      kernels_.rmsNorm(in + at, weight.data(), width, config_.normEpsilon, out + at);
    }
  });
}

void ForwardPass::quantize(const float* in, int rows, int k) {
  int8_ = {k, a_.quantized.data(), a_.quantizedD.data(), a_.quantizedS.data(), a_.quantizedSums.data()};
  splitRows(rows, k, [&](int begin, int end) {
    for (int r = begin; r < end; ++r) {
      if (!kernels_.quantizeRow(in + static_cast<std::size_t>(r) * k, k, r, int8_)) finite_.store(false);
    }
  });
}

void ForwardPass::multiply(const PackedMatrix& w, const float* in, int first, int rows, int groupBegin,
                           int groupEnd, float* out) {
  const auto stride = static_cast<std::size_t>(w.n());
  const auto at = static_cast<std::size_t>(first) * w.k();
  if (kernels::isFloatFormat(w.format())) {
    kernels_.matmulFloat(w, in + at, rows, groupBegin, groupEnd, out, stride);
    return;
  }
  const kernels::QuantizedRows from = {w.k(), int8_.q + at, int8_.d + at / kBlock, int8_.s + at / kBlock,
                                       int8_.sums + at / 16};
  kernels_.matmulQuantized(w, from, rows, groupBegin, groupEnd, out, stride);
}

void ForwardPass::project(const float* in, int k, std::initializer_list<Product> products) {
  int groups = 0;
  bool quantized = false;
  for (const Product& p : products) {
    groups += p.linear.weight.groups();
    quantized |= !kernels::isFloatFormat(p.linear.weight.format());
  }
  if (quantized) quantize(in, rows_, k);
  if (!finite_.load()) return;
  splitProduct(d_.pool_, rows_, groups, [&](int rowBegin, int rowEnd, int begin, int end) {
    int first = 0;  // of this product, counted over all products
    for (const Product& p : products) {
      const int last = first + p.linear.weight.groups();
      if (begin < last && end > first) {
        multiply(p.linear.weight, in, rowBegin, rowEnd - rowBegin, std::max(begin, first) - first,
                 std::min(end, last) - first,
                 p.out + static_cast<std::size_t>(rowBegin) * p.linear.weight.n());
      }
      first = last;
    }
  });
  for (const Product& p : products) {
    const int n = p.linear.weight.n();
    for (int r = 0; r < rows_ && !p.linear.bias.empty(); ++r) {
      kernels_.add(p.out + static_cast<std::size_t>(r) * n, p.linear.bias.data(), n);
    }
  }
}

void ForwardPass::normHeads(float* heads, int headsPerRow, const std::vector<float>& weight) {
  splitRows(rows_ * headsPerRow, config_.headDim, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      float* head = heads + static_cast<std::size_t>(i) * config_.headDim;
      kernels_.rmsNorm(head, weight.data(), config_.headDim, config_.normEpsilon, head);
    }
  });
}

void ForwardPass::rope(float* heads, int headsPerRow, bool windowed) {
  const int pairs = config_.rope.dims / 2;
  const auto rotate = config_.rope.adjacentPairs ? kernels_.ropeAdjacent : kernels_.ropeHalves;
  const float* cosine = (windowed ? a_.cosineWindowed : a_.cosine).data();
  const float* sine = (windowed ? a_.sineWindowed : a_.sine).data();
  splitRows(rows_, headsPerRow * config_.headDim, [&](int begin, int end) {
    for (int r = begin; r < end; ++r) {
      const std::size_t at = static_cast<std::size_t>(r) * pairs;
      for (int h = 0; h < headsPerRow; ++h) {
        float* head = heads + (static_cast<std::size_t>(r) * headsPerRow + h) * config_.headDim;
        rotate(head, cosine + at, sine + at, pairs);
      }
    }
  });
}

void ForwardPass::storeKeysAndValues(int layer) {
  const kernels::CacheType type = d_.layout_.type;
  const int slot = config_.slotOf(layer);
  splitRows(rows_, 2 * config_.kvHeads * config_.headDim, [&](int begin, int end) {
    for (int r = begin; r < end; ++r) {
      for (int h = 0; h < config_.kvHeads; ++h) {
        const std::size_t at = (static_cast<std::size_t>(r) * config_.kvHeads + h) * config_.headDim;
        const bool finite = kernels_.toCache(a_.k.data() + at, config_.headDim, keyRows(type),
                                             d_.scratch_.row(slot, KvPart::kKey, h, r)) &&
                            kernels_.toCache(a_.v.data() + at, config_.headDim, valueRows(type),
                                             d_.scratch_.row(slot, KvPart::kValue, h, r));
        if (!finite) finite_.store(false);
      }
    }
  });
}

void ForwardPass::gateAttention() {
  const int width = config_.heads * config_.headDim;
  split(rows_, [&](int begin, int end) {
    const std::size_t at = static_cast<std::size_t>(begin) * width;
    kernels_.sigmoidGate(a_.attention.data() + at, a_.attentionGate.data() + at, (end - begin) * width);
  });
}

void ForwardPass::feedForward(const LayerWeights& w) {
  if (config_.mixture.experts > 0) return mixture(w.mixture);
  project(a_.normed.data(), config_.dim, {{w.gate, a_.gate.data()}, {w.up, a_.up.data()}});
  gatedActivation(a_.gate.data(), a_.up.data(), rows_, config_.feedForward);
  project(a_.gate.data(), config_.feedForward, {{w.down, a_.projected.data()}});
}

void ForwardPass::gatedActivation(float* gate, const float* up, int rows, int width) {
  splitRows(rows, width, [&](int begin, int end) {
    const std::size_t at = static_cast<std::size_t>(begin) * width;
    kernels_.gatedActivation(gate + at, up + at, (end - begin) * width, config_.activation);
  });
}

void ForwardPass::addToResidual(const float* y) {
  splitRows(rows_, config_.dim, [&](int begin, int end) {
    const std::size_t at = static_cast<std::size_t>(begin) * config_.dim;
    kernels_.add(a_.x.data() + at, y + at, (end - begin) * config_.dim);
  });
}

void ForwardPass::head() {
  const int count = static_cast<int>(logitRows_.size());
  if (!goesOn(config_.layers) || count == 0) return;
  for (int i = 0; i < count; ++i) {
    const std::size_t from = static_cast<std::size_t>(logitRows_[i]) * config_.dim;
    float* to = a_.normed.data() + static_cast<std::size_t>(i) * config_.dim;
    if (weights_.nextn) {  // normed already
      std::copy_n(a_.hidden.data() + from, config_.dim, to);
    } else {
      kernels_.rmsNorm(a_.x.data() + from, weights_.outputNorm.data(), config_.dim, config_.normEpsilon, to);
    }
  }
  logitsOf(a_.normed.data(), count, weights_.head);
}

// Logits of `count` normed rows into the decoder's buffer.
void ForwardPass::logitsOf(const float* normed, int count, const PackedMatrix& w) {
  const std::size_t vocabulary = static_cast<std::size_t>(config_.vocabulary);
  if (d_.logits_.size() < vocabulary * count) d_.logits_.resize(vocabulary * count);
  if (!kernels::isFloatFormat(w.format())) quantize(normed, count, config_.dim);
  if (!goesOn(config_.layers)) return;
  float* logits = d_.logits_.data();
  splitProduct(d_.pool_, count, w.groups(), [&](int rowBegin, int rowEnd, int begin, int end) {
    multiply(w, normed, rowBegin, rowEnd - rowBegin, begin, end,
             logits + static_cast<std::size_t>(rowBegin) * w.n());
  });
  if (config_.finalSoftCap > 0) {
    split(count, [&](int begin, int end) {
      kernels_.softCap(logits + begin * vocabulary, config_.finalSoftCap, (end - begin) * config_.vocabulary);
    });
  }
  if (d_.best_.size() < static_cast<std::size_t>(count)) d_.best_.resize(count);
  split(count, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const float* row = logits + i * vocabulary;
      if (!kernels_.allFinite(row, config_.vocabulary)) {
        finite_.store(false);
      } else {
        d_.best_[i] = kernels_.argmax(row, config_.vocabulary);
      }
    }
  });
  goesOn(config_.layers);
}

bool ForwardPass::goesOn(int layer) {
  if (!status_.ok()) return false;
  if (stop_()) {
    status_ = Error{ErrorCode::kCancelled, "the request was stopped"};
  } else if (!finite_.load()) {
    const std::string where =
        layer < config_.layers ? "before layer " + std::to_string(layer) : "at the output";
    status_ = Error{ErrorCode::kNonFinite, "the model computed a number that is not finite (" + where +
                                               "); its file may be damaged"};
  }
  return status_.ok();
}

}  // namespace tandem
