#include "tests/model/faulty_kernels.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>

#include "engine/kernels/arithmetic.h"
#include "engine/kernels/half.h"
#include "engine/kernels/quant/dispatch.h"

namespace tandem::test {
namespace {

using namespace tandem::kernels;

const KernelSet* base = nullptr;
int headColumns = 0;

// Rule 1: with several rows, the blocks of K are added in the opposite order.
void reversedSumForSeveralRows(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin,
                               int groupEnd, float* out, std::size_t outStride) {
  base->matmulQuantized(w, x, rows, groupBegin, groupEnd, out, outStride);
  if (rows == 1) return;
  withFormat(w.format(), [&]<class F>(F) {
    if constexpr (F::kElements > 1) {
      constexpr int perUnit = F::kElements / kBlock;
      const int blocks = w.k() / kBlock;
      for (int column = groupBegin * kGroup; column < std::min(groupEnd * kGroup, w.n()); ++column) {
        for (int r = 0; r < rows; ++r) {
          float sum = 0;
          for (int b = blocks - 1; b >= 0; --b) {
            const std::uint8_t* unit = w.group(column / kGroup) + (b / perUnit) * F::kPackedBytes;
            const BlockView v = F::view(unit, b % perUnit, column % kGroup);
            const std::size_t at = static_cast<std::size_t>(r) * blocks + b;
            std::int32_t isum = 0;
            for (int i = 0; i < kBlock; ++i)
              isum += v.sub[i / 16] * v.q[i] * x.q[at * kBlock + i];
            sum = std::fmaf(static_cast<float>(isum), v.scale * x.d[at], sum);
            if (F::kKind == BlockKind::kScaleAndMinimum) sum = std::fmaf(v.minimum, x.s[at], sum);
          }
          out[r * outStride + column] = sum;
        }
      }
    }
  });
}

// Rule 2: rows after the first are quantised to 126 steps.
bool otherScaleForLaterRows(const float* x, int k, int row, const QuantizedRows& out) {
  if (!base->quantizeRow(x, k, row, out)) return false;
  if (row == 0) return true;
  for (int b = 0; b < k / kBlock; ++b) {
    const std::size_t at = static_cast<std::size_t>(row) * (k / kBlock) + b;
    out.d[at] *= 127.0f / 126.0f;
  }
  return true;
}

// Rule 3, attention by one running maximum that is carried from tile to tile.
template <RowType type>
float element(const void* row, int i) {
  if constexpr (type == RowType::kF16) return halfToFloat(static_cast<const std::uint16_t*>(row)[i]);
  return static_cast<const float*>(row)[i];
}

// Where row `row` finds what a position keeps, of keys or values.
template <RowType type>
const void* rowAt(const AttentionJob& job, const void* const* tiles, const void* const* tail, int row,
                  int position) {
  const int tile = position / kTile;
  if (tile >= job.tailTile) return tail[row * job.tailStride + position - job.tailTile * kTile];
  return static_cast<const std::byte*>(tiles[tile - job.firstTile]) +
         position % kTile * rowBytes(type, job.stride);
}

template <CacheType type>
void carriedMaximum(const AttentionJob& job) {
  for (int query = 0; query < job.rows * job.heads; ++query) {
    const int row = query / job.heads, head = query % job.heads;
    const float* q = job.q + row * job.qStride + head * job.headDim;
    float* out = job.out + row * job.outStride + head * job.headDim;
    std::fill(out, out + job.headDim, 0.0f);
    float m = -INFINITY, l = 0;
    for (int p = job.begin[row]; p < job.end[row]; ++p) {
      const void* key = rowAt<keyRows(type)>(job, job.keyTiles, job.tailKeys, row, p);
      const void* value = rowAt<valueRows(type)>(job, job.valueTiles, job.tailValues, row, p);
      float s = 0;
      for (int i = 0; i < job.headDim; ++i)
        s = std::fmaf(q[i], element<keyRows(type)>(key, i), s);
      s *= job.scale;
      const float newMax = std::max(m, s), keep = std::exp(m - newMax), weight = std::exp(s - newMax);
      for (int i = 0; i < job.headDim; ++i)
        out[i] = out[i] * keep + weight * element<valueRows(type)>(value, i);
      l = l * keep + weight;
      m = newMax;
    }
    for (int i = 0; i < job.headDim; ++i)
      out[i] /= l;
  }
}

// Rule 3, masked keys: the slot in memory after a row's own key takes part. Rows are computed one by one.
template <CacheType type>
void nextSlotIsRead(const AttentionJob& job) {
  const std::size_t bytes = rowBytes(keyRows(type), job.stride);
  for (int row = 0; row < job.rows; ++row) {
    const int tailBegin = job.tailTile * kTile, end = job.end[row] + 1;
    const void* const* keysOfRow = job.tailKeys + row * job.tailStride;
    const void* const* valuesOfRow = job.tailValues + row * job.tailStride;
    std::vector<const void*> keys(keysOfRow, keysOfRow + (job.end[row] - tailBegin));
    std::vector<const void*> values(valuesOfRow, valuesOfRow + (job.end[row] - tailBegin));
    keys.push_back(static_cast<const std::byte*>(keys.back()) + bytes);
    values.push_back(static_cast<const std::byte*>(values.back()) + bytes);
    AttentionJob longer = job;
    longer.rows = 1;
    longer.q += row * job.qStride;
    longer.out += row * job.outStride;
    longer.begin += row;
    longer.end = &end;
    longer.tailKeys = keys.data();
    longer.tailValues = values.data();
    longer.partials = nullptr;
    attentionOf(*base, type)(longer);
  }
}

// With either of the two above, attention has no tiles to join.
void nothingToJoin(const AttentionJob&) {}

// Attention over rows of fp32: read(row of the cache, its type, stride, out) gives each. Rows one by one.
template <CacheType type, class Read>
void attendOver(const AttentionJob& job, Read read) {
  for (int row = 0; row < job.rows; ++row) {
    const int begin = job.begin[row], end = job.end[row], tile = begin / kTile;
    std::vector<float> memory(2 * static_cast<std::size_t>(end - begin) * job.stride);
    std::vector<const void*> keys(end - tile * kTile), values(keys.size());
    float* out = memory.data();
    for (int p = begin; p < end; ++p) {
      const void* key = rowAt<keyRows(type)>(job, job.keyTiles, job.tailKeys, row, p);
      const void* value = rowAt<valueRows(type)>(job, job.valueTiles, job.tailValues, row, p);
      keys[p - tile * kTile] = out;
      read(key, keyRows(type), job.stride, out);
      out += job.stride;
      values[p - tile * kTile] = out;
      read(value, valueRows(type), job.stride, out);
      out += job.stride;
    }
    AttentionJob one = job;
    one.rows = 1;
    one.q += row * job.qStride;
    one.out += row * job.outStride;
    one.begin += row;
    one.end += row;
    one.firstTile = one.tailTile = tile;
    one.tailKeys = keys.data();
    one.tailValues = values.data();
    one.partials = nullptr;
    base->attendF32(one);
  }
}

// The numbers of a row whose blocks take the scale of the block `neighbour` places on.
void readRow(const void* row, RowType type, int stride, int neighbour, float* out) {
  const auto* q = static_cast<const std::int8_t*>(row);
  const int blocks = (stride + kBlock - 1) / kBlock;
  for (int i = 0; i < stride; ++i) {
    std::uint16_t half = 0;
    const int at = type == RowType::kInt8 ? stride + (i / kBlock + neighbour) % blocks * 2 : 2 * i;
    std::memcpy(&half, q + at, sizeof half);
    out[i] = halfToFloat(half) * (type == RowType::kInt8 ? static_cast<float>(q[i]) : 1.0f);
  }
}

// Rule 4: a block is read by the scale of its neighbour.
template <CacheType type>
void scaleOfTheNeighbour(const AttentionJob& job) {
  attendOver<type>(job, [](const void* row, RowType rowType, int stride, float* out) {
    readRow(row, rowType, stride, 1, out);
  });
}

// Rule 4: the rows of the pass are read as they were before they were quantised.
struct Unrounded {
  std::mutex mutex;
  std::map<const void*, std::vector<float>> rows;  // by their place in the scratch
};
Unrounded& unrounded() {
  static Unrounded rows;
  return rows;
}

bool remembersTheRow(const float* x, int n, RowType type, void* out) {
  if (type == RowType::kInt8) {
    const std::lock_guard lock(unrounded().mutex);
    unrounded().rows[out].assign(x, x + n);
  }
  return base->toCache(x, n, type, out);
}

template <CacheType type>
void unroundedInThePass(const AttentionJob& job) {
  attendOver<type>(job, [](const void* row, RowType rowType, int stride, float* out) {
    const std::lock_guard lock(unrounded().mutex);
    const auto found = unrounded().rows.find(row);
    if (found == unrounded().rows.end()) return readRow(row, rowType, stride, 0, out);
    std::copy(found->second.begin(), found->second.end(), out);
  });
}

// Rule 4: every second int8 row loses the lowest bit of its numbers.
bool coarserAtTimes(const float* x, int n, RowType type, void* out) {
  static std::atomic<int> calls = 0;
  const bool finite = base->toCache(x, n, type, out);
  if (type != RowType::kInt8 || ++calls % 2 == 0) return finite;
  for (int i = 0; i < n; ++i)
    static_cast<std::int8_t*>(out)[i] &= ~1;
  return finite;
}

// Rule 4: every second row is cut instead of rounded.
bool cutToCacheAtTimes(const float* x, int n, RowType type, void* out) {
  static int calls = 0;
  const bool finite = base->toCache(x, n, type, out);
  if (++calls % 2 == 0 || type != RowType::kF16) return finite;
  for (int i = 0; i < n; ++i) {
    const auto cut = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x[i]) & ~0x1FFFu);
    static_cast<std::uint16_t*>(out)[i] = floatToHalf(cut);
  }
  return finite;
}

// Rule 5: a norm that sums from front to back, and an exponential of the C library.
void normInPlainOrder(const float* x, const float* weight, int n, float eps, float* out) {
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += x[i] * x[i];
  const float factor = 1.0f / std::sqrt(sum / static_cast<float>(n) + eps);
  for (int i = 0; i < n; ++i)
    out[i] = weight ? (x[i] * factor) * weight[i] : x[i] * factor;
}

void activationOfTheLibrary(float* gate, const float* up, int n, Activation) {
  for (int i = 0; i < n; ++i)
    gate[i] = gate[i] / (1.0f + std::exp(-gate[i])) * up[i];
}

// Rule 6: a commit that takes every token twice, and a state that decays after its update instead of before.
void committedTooFar(const DeltaStep& step) {
  base->deltaStep(step);
  if (!step.q) base->deltaStep(step);
}

void decaysAfterwards(const DeltaStep& step) {
  DeltaStep first = step;
  first.decay = 1.0f;
  base->deltaStep(first);
  for (int i = 0; i < step.headDim * step.headDim; ++i)
    step.state[i] *= step.decay;
}

// Rule 6: a row that starts from the state of the row before it, which may be its sibling's.
void stateOfTheNeighbour(const DeltaStep& step) {
  thread_local std::vector<float> last;
  thread_local const float* owner = nullptr;
  if (step.q && owner == step.state) std::copy(last.begin(), last.end(), step.state);
  base->deltaStep(step);
  last.assign(step.state, step.state + step.headDim * step.headDim);
  owner = step.q ? step.state : nullptr;
}

// Rule 7: equal scores go to the higher index, and the experts are summed from the last rank to the first.
void tiesToTheHigherIndex(const float* scores, int experts, int used, int* picked, float* weights) {
  std::vector<float> reversed(scores, scores + experts);
  std::reverse(reversed.begin(), reversed.end());
  base->pickExperts(reversed.data(), experts, used, picked, weights);
  for (int rank = 0; rank < used; ++rank)
    picked[rank] = experts - 1 - picked[rank];
}

void lastRankFirst(const float* const* outputs, const float* weights, int count, int n, float* out) {
  std::vector<const float*> reversedOutputs(outputs, outputs + count);
  std::vector<float> reversedWeights(weights, weights + count);
  std::reverse(reversedOutputs.begin(), reversedOutputs.end());
  std::reverse(reversedWeights.begin(), reversedWeights.end());
  base->joinExperts(reversedOutputs.data(), reversedWeights.data(), count, n, out);
}

// Rule 8: with several rows the logits are rounded to BF16.
void coarseLogitsForSeveralRows(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin,
                                int groupEnd, float* out, std::size_t outStride) {
  base->matmulQuantized(w, x, rows, groupBegin, groupEnd, out, outStride);
  if (rows == 1 || w.n() != headColumns) return;
  for (int r = 0; r < rows; ++r) {
    for (int c = groupBegin * kGroup; c < std::min(groupEnd * kGroup, w.n()); ++c) {
      float& logit = out[r * outStride + c];
      logit = std::bit_cast<float>((std::bit_cast<std::uint32_t>(logit) + 0x8000u) & 0xFFFF0000u);
    }
  }
}

}  // namespace

std::vector<Fault> plantFaults(const KernelSet& set, int vocabulary) {
  base = &set;
  headColumns = vocabulary;
  std::vector<Fault> faults;
  const auto plant = [&](const char* name, const char* rule, auto member, auto function) {
    faults.push_back({name, rule, set});
    faults.back().kernels.*member = function;
  };
  plant("sum in another order for several rows", "1", &KernelSet::matmulQuantized, reversedSumForSeveralRows);
  plant("other quantisation for later rows", "2", &KernelSet::quantizeRow, otherScaleForLaterRows);
  plant("carried maximum", "3", &KernelSet::attendF16, carriedMaximum<CacheType::kF16>);
  plant("masked key that is read", "3", &KernelSet::attendF16, nextSlotIsRead<CacheType::kF16>);
  faults[faults.size() - 2].kernels.joinTiles = faults.back().kernels.joinTiles = nothingToJoin;
  plant("key that is not rounded", "4", &KernelSet::toCache, cutToCacheAtTimes);
  plant("norm in plain order", "5", &KernelSet::rmsNorm, normInPlainOrder);
  plant("exponential of the C library", "5", &KernelSet::gatedActivation, activationOfTheLibrary);
  plant("commit that goes too far", "6", &KernelSet::deltaStep, committedTooFar);
  plant("decay after the update", "6", &KernelSet::deltaStep, decaysAfterwards);
  plant("state of the neighbour", "6", &KernelSet::deltaStep, stateOfTheNeighbour);
  plant("ties to the higher index", "7", &KernelSet::pickExperts, tiesToTheHigherIndex);
  plant("last rank first", "7", &KernelSet::joinExperts, lastRankFirst);
  plant("coarse logits for several rows", "8", &KernelSet::matmulQuantized, coarseLogitsForSeveralRows);
  return faults;
}

std::vector<Fault> plantCacheFaults(const KernelSet& set) {
  base = &set;
  unrounded().rows.clear();
  std::vector<Fault> faults = {{"scale of the neighbour", "4", set},
                               {"rows of the pass that are not quantised", "4", set},
                               {"coarser rows at times", "4", set}};
  KernelSet& neighbour = faults[0].kernels;
  neighbour.attendVq8 = scaleOfTheNeighbour<CacheType::kVq8>;
  neighbour.attendQ8 = scaleOfTheNeighbour<CacheType::kQ8>;
  KernelSet& exact = faults[1].kernels;
  exact.toCache = remembersTheRow;
  exact.attendVq8 = unroundedInThePass<CacheType::kVq8>;
  exact.attendQ8 = unroundedInThePass<CacheType::kQ8>;
  neighbour.joinTiles = exact.joinTiles = nothingToJoin;
  faults[2].kernels.toCache = coarserAtTimes;
  return faults;
}

}  // namespace tandem::test
