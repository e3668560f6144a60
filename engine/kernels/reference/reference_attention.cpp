#include "engine/kernels/reference/reference_attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "engine/kernels/arithmetic.h"
#include "engine/kernels/half.h"
#include "engine/kernels/math32.h"

namespace tandem::kernels::reference {
namespace {

template <RowType type>
float cacheElement(const void* row, int stride, int i) {
  if constexpr (type == RowType::kInt8) {
    const auto* q = static_cast<const std::int8_t*>(row);
    std::uint16_t scale;
    std::memcpy(&scale, q + stride + i / kBlock * sizeof scale, sizeof scale);
    return halfToFloat(scale) * static_cast<float>(q[i]);
  }
  if constexpr (type == RowType::kF16) return halfToFloat(static_cast<const std::uint16_t*>(row)[i]);
  return static_cast<const float*>(row)[i];
}

// Where a row finds the key and the value of a position.
template <CacheType type>
struct KeyAndValue {
  const void* key;
  const void* value;
  KeyAndValue(const AttentionJob& job, int row, int position) {
    const int tile = position / kTile;
    if (tile < job.tailTile) {
      const std::size_t slot = position % kTile;
      key = static_cast<const std::byte*>(job.keyTiles[tile - job.firstTile]) +
            slot * rowBytes(keyRows(type), job.stride);
      value = static_cast<const std::byte*>(job.valueTiles[tile - job.firstTile]) +
              slot * rowBytes(valueRows(type), job.stride);
    } else {
      const std::size_t at = row * job.tailStride + position - job.tailTile * kTile;
      key = job.tailKeys[at];
      value = job.tailValues[at];
    }
  }
};

// What one tile gives one query: the maximum, the sum of weights, the weighted values.
struct TilePart {
  float max = 0, sum = 0;
  std::vector<float> out;
};

// The tile's visible keys are positions begin … end - 1; q is the query's head.
template <CacheType type>
TilePart tilePart(const AttentionJob& job, int row, const float* q, int begin, int end) {
  float weights[kTile] = {};
  for (int p = begin; p < end; ++p) {
    const KeyAndValue<type> at(job, row, p);
    float lanes[kLanes] = {};
    for (int i = 0; i < job.headDim; ++i)
      lanes[i % kLanes] =
          std::fmaf(q[i], cacheElement<keyRows(type)>(at.key, job.stride, i), lanes[i % kLanes]);
    const float score = fold(lanes) * job.scale;
    weights[p % kTile] = job.softCap > 0 ? softCap(score, job.softCap) : score;
  }
  TilePart part;
  part.max = weights[begin % kTile];
  for (int p = begin + 1; p < end; ++p)
    part.max = maxOf(part.max, weights[p % kTile]);
  float lanes[kLanes] = {};
  for (int p = begin; p < end; ++p) {
    weights[p % kTile] = exp(weights[p % kTile] - part.max);
    lanes[p % kLanes] += weights[p % kTile];
  }
  part.sum = fold(lanes);
  part.out.assign(job.headDim, 0.0f);
  for (int p = begin; p < end; ++p) {
    const KeyAndValue<type> at(job, row, p);
    for (int i = 0; i < job.headDim; ++i)
      part.out[i] =
          std::fmaf(weights[p % kTile], cacheElement<valueRows(type)>(at.value, job.stride, i), part.out[i]);
  }
  return part;
}

// Joins a tile's part to what the tiles before it gave.
void join(const TilePart& part, bool& started, TilePart& state) {
  if (!started) {
    state = part;
    started = true;
    return;
  }
  const float newMax = maxOf(state.max, part.max);
  const float keep = exp(state.max - newMax), take = exp(part.max - newMax);
  for (std::size_t i = 0; i < state.out.size(); ++i)
    state.out[i] = std::fmaf(part.out[i], take, state.out[i] * keep);
  state.sum = std::fmaf(part.sum, take, state.sum * keep);
  state.max = newMax;
}

// Calls part(tile, begin, end) for each tile of which the row sees something.
template <class Part>
void forTiles(const AttentionJob& job, int row, Part part) {
  for (int tile = tileStart(job.begin[row]) / kTile; tile * kTile < job.end[row]; ++tile)
    part(tile, std::max(job.begin[row], tile * kTile), std::min(job.end[row], (tile + 1) * kTile));
}

// Where tile `t` keeps query `i` of the job among the partials.
struct PartialAt {
  float *max, *sum, *out;
  PartialAt(const AttentionJob& job, int t, int i) {
    const int queries = job.rows * job.heads;
    float* tile = job.partials + (t - job.firstTile) * tilePartialFloats(queries, job.headDim);
    max = tile + i;
    sum = tile + queries + i;
    out = tile + 2 * queries + static_cast<std::size_t>(i) * roundUp(job.headDim, 16);
  }
};

void writeOut(const AttentionJob& job, int query, const TilePart& state) {
  float* out = job.out + query / job.heads * job.outStride + query % job.heads * job.headDim;
  for (int i = 0; i < job.headDim; ++i)
    out[i] = state.out[i] / state.sum;
}

template <CacheType type>
void attend(const AttentionJob& job) {
  for (int query = 0; query < job.rows * job.heads; ++query) {
    const int row = query / job.heads;
    const float* q = job.q + row * job.qStride + query % job.heads * job.headDim;
    TilePart state;
    bool started = false;
    forTiles(job, row, [&](int tile, int begin, int end) {
      if (!job.partials) return join(tilePart<type>(job, row, q, begin, end), started, state);
      if (tile < job.beginTile || tile >= job.endTile) return;
      const TilePart part = tilePart<type>(job, row, q, begin, end);
      const PartialAt at(job, tile, query);
      *at.max = part.max;
      *at.sum = part.sum;
      std::copy(part.out.begin(), part.out.end(), at.out);
    });
    if (!job.partials) writeOut(job, query, state);
  }
}

}  // namespace

void attendF16(const AttentionJob& job) {
  attend<CacheType::kF16>(job);
}
void attendF32(const AttentionJob& job) {
  attend<CacheType::kF32>(job);
}
void attendVq8(const AttentionJob& job) {
  attend<CacheType::kVq8>(job);
}
void attendQ8(const AttentionJob& job) {
  attend<CacheType::kQ8>(job);
}

void joinTiles(const AttentionJob& job) {
  for (int query = 0; query < job.rows * job.heads; ++query) {
    TilePart state;
    bool started = false;
    forTiles(job, query / job.heads, [&](int tile, int, int) {
      const PartialAt at(job, tile, query);
      join({*at.max, *at.sum, {at.out, at.out + job.headDim}}, started, state);
    });
    writeOut(job, query, state);
  }
}

}  // namespace tandem::kernels::reference
