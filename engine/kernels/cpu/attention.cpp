// Attention (rule 3). A query is one head of one row. Queries are taken in blocks; for each tile of keys its
// keys and values are turned to fp32, once where many queries need them, then scores, weights and weighted
// values are computed several queries at a time. Every sum keeps the contract's order: a score's eight lanes
// run along the head, a weighted value is one chain over the row's visible keys.
#include "engine/kernels/cpu/attention_tile.h"
#include "engine/kernels/cpu/cpu_kernels.h"

namespace tandem::kernels::TANDEM_SET {
namespace {

// What the queries of a block have gathered from the tiles so far.
struct State {
  bool started[kMaxQueries];
  float max[kMaxQueries], sum[kMaxQueries];
  alignas(64) float out[kBlockFloats];
};

TANDEM_INLINE void start(State& state, int count) {
  for (int h = 0; h < count; ++h)
    state.started[h] = false;
}

// Joins a tile's partials to the state of those queries that see it.
TANDEM_INLINE void merge(const Block& block, const Partial& partial, State& state) {
  float keep[kMaxQueries] = {}, take[kMaxQueries] = {};
  for (int h = 0; h < block.count; ++h) {
    if (block.query[h].empty()) continue;
    if (!state.started[h]) continue;
    const float newMax = kernels::maxOf(state.max[h], partial.max[h]);
    keep[h] = state.max[h] - newMax;
    take[h] = partial.max[h] - newMax;
    state.max[h] = newMax;
  }
  for (int h = 0; h < block.count; h += kLanes) {
    store(keep + h, exp(load(keep + h)));
    store(take + h, exp(load(take + h)));
  }
  for (int h = 0; h < block.count; ++h) {
    if (block.query[h].empty()) continue;
    const float* from = partial.out + static_cast<std::size_t>(h) * block.width;
    float* to = state.out + static_cast<std::size_t>(h) * block.width;
    if (!state.started[h]) {
      state.started[h] = true;
      state.max[h] = partial.max[h];
      state.sum[h] = partial.sum[h];
      for (int i = 0; i < block.width; i += kWidest)
        store(to + i, loadWidest(from + i));
      continue;
    }
    const Widest k = broadcast<Widest>(keep[h]), t = broadcast<Widest>(take[h]);
    for (int i = 0; i < block.width; i += kWidest)
      store(to + i, fma(loadWidest(from + i), t, loadWidest(to + i) * k));
    state.sum[h] = kernels::fma(partial.sum[h], take[h], state.sum[h] * keep[h]);
  }
}

// Query h of a job: its row and its head.
TANDEM_INLINE int rowOf(const AttentionJob& job, int query) {
  return query / job.heads;
}
TANDEM_INLINE void startBlock(const AttentionJob& job, int count, Block& block) {
  block.count = count;
  block.stride = job.stride;
  block.width = widthOf(job.headDim);
  block.scale = job.scale;
  block.softCap = job.softCap;
}
TANDEM_INLINE void loadQueries(const AttentionJob& job, int first, Block& block) {
  for (int h = 0; h < block.count; ++h) {
    const int row = rowOf(job, first + h), head = (first + h) % job.heads;
    const float* from = job.q + row * job.qStride + static_cast<std::size_t>(head) * job.headDim;
    float* to = block.q + static_cast<std::size_t>(h) * block.width;
    for (int i = 0; i < block.width; ++i)
      to[i] = i < job.headDim ? from[i] : 0.0f;
  }
}
// Sets what each query sees of tile `t`, and returns what they see together.
TANDEM_INLINE Query lookAt(const AttentionJob& job, int first, int t, Block& block) {
  Query together = {kTile, 0};
  for (int h = 0; h < block.count; ++h) {
    const int row = rowOf(job, first + h);
    const int begin = job.begin[row] - t * kTile, end = job.end[row] - t * kTile;
    Query& query = block.query[h];
    query = {begin > 0 ? begin : 0, end < kTile ? end : kTile};
    if (query.empty()) continue;
    if (query.begin < together.begin) together.begin = query.begin;
    if (query.end > together.end) together.end = query.end;
  }
  return together;
}
TANDEM_INLINE void writeOut(const AttentionJob& job, int first, const Block& block, const State& state) {
  for (int h = 0; h < block.count; ++h) {
    const int row = rowOf(job, first + h), head = (first + h) % job.heads;
    float* to = job.out + row * job.outStride + static_cast<std::size_t>(head) * job.headDim;
    const float* from = state.out + static_cast<std::size_t>(h) * block.width;
    const F8 sum = all(state.sum[h]);
    int i = 0;
    for (; i + kLanes <= job.headDim; i += kLanes)
      store(to + i, load(from + i) / sum);
    for (; i < job.headDim; ++i)
      to[i] = from[i] / state.sum[h];
  }
}

// All queries of the block at tile t.
template <CacheType type>
TANDEM_INLINE void computeTile(const AttentionJob& job, int firstQuery, int t, Query together, Tile& tile,
                               Block& block, const Partial& partial) {
  const void* keys[kTile];
  const void* values[kTile];
  Source source = {keys, values};
  if (t < job.tailTile) {
    const void* const* keyTile = job.keyTiles + (t - job.firstTile);
    const void* const* valueTile = job.valueTiles + (t - job.firstTile);
    const std::size_t keyBytes = rowBytes(keyRows(type), job.stride);
    const std::size_t valueBytes = rowBytes(valueRows(type), job.stride);
    for (int p = together.begin; p < together.end; ++p) {
      keys[p] = static_cast<const char*>(*keyTile) + p * keyBytes;
      values[p] = static_cast<const char*>(*valueTile) + p * valueBytes;
    }
    if (t + 1 < job.tailTile) {
      source.nextKeys = static_cast<const char*>(keyTile[1]);
      source.nextValues = static_cast<const char*>(valueTile[1]);
    }
  }
  const std::size_t at = static_cast<std::size_t>(t - job.tailTile) * kTile;
  if (t >= job.tailTile && job.tailStride == 0) source = {job.tailKeys + at, job.tailValues + at};
  if (t < job.tailTile || job.tailStride == 0) {
    tileOf<type>(source, together.begin, together.end, 0, block.count, block, tile, partial);
    return;
  }
  for (int h = 0; h < block.count;) {  // a row's queries at a time: each row has keys of its own
    const int row = rowOf(job, firstQuery + h);
    int count = 1;
    while (h + count < block.count && rowOf(job, firstQuery + h + count) == row)
      ++count;
    const Query query = block.query[h];
    if (!query.empty()) {
      const std::size_t from = row * job.tailStride + at;
      const Source ofRow = {job.tailKeys + from, job.tailValues + from};
      tileOf<type>(ofRow, query.begin, query.end, h, count, block, tile, partial);
    }
    h += count;
  }
}

TANDEM_INLINE int queriesOfBlock(const AttentionJob& job) {
  const int byWidth = kBlockFloats / widthOf(job.headDim);
  return byWidth < kMaxQueries ? byWidth : kMaxQueries;
}
TANDEM_INLINE int lastTile(const AttentionJob& job) {
  int end = 0;
  for (int r = 0; r < job.rows; ++r)
    end = job.end[r] > end ? job.end[r] : end;
  return (end - 1) / kTile;
}

template <CacheType type>
TANDEM_INLINE void attend(const AttentionJob& job) {
  Tile tile;
  Block block;
  State state;
  const int queries = job.rows * job.heads, most = queriesOfBlock(job), width = widthOf(job.headDim);
  const int begin = job.partials ? job.beginTile : job.firstTile;
  const int end = job.partials ? job.endTile : lastTile(job) + 1;
  alignas(64) float buffer[2 * kMaxQueries + kBlockFloats];
  for (int first = 0; first < queries; first += most) {
    startBlock(job, queries - first < most ? queries - first : most, block);
    loadQueries(job, first, block);
    start(state, block.count);
    for (int t = begin; t < end; ++t) {
      const Query together = lookAt(job, first, t, block);
      if (together.empty()) continue;
      Partial partial = partialAt(buffer, kMaxQueries);
      if (job.partials) {
        partial =
            partialAt(job.partials + (t - job.firstTile) * tilePartialFloats(queries, job.headDim), queries);
        partial = {partial.max + first, partial.sum + first,
                   partial.out + static_cast<std::size_t>(first) * width};
      }
      computeTile<type>(job, first, t, together, tile, block, partial);
      if (!job.partials) merge(block, partial, state);
    }
    if (!job.partials) writeOut(job, first, block, state);
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
  Block block;
  State state;
  const int queries = job.rows * job.heads, most = queriesOfBlock(job), width = widthOf(job.headDim);
  for (int first = 0; first < queries; first += most) {
    startBlock(job, queries - first < most ? queries - first : most, block);
    start(state, block.count);
    for (int t = job.firstTile; t <= lastTile(job); ++t) {
      const Query together = lookAt(job, first, t, block);
      if (together.empty()) continue;
      const Partial all =
          partialAt(job.partials + (t - job.firstTile) * tilePartialFloats(queries, job.headDim), queries);
      merge(block, {all.max + first, all.sum + first, all.out + static_cast<std::size_t>(first) * width},
            state);
    }
    writeOut(job, first, block, state);
  }
}

}  // namespace tandem::kernels::TANDEM_SET
