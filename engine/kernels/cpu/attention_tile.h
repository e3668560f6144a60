// One tile of attention for a block of queries (attention.cpp): keys and values to fp32, scores, weights,
// weighted values. Only for files of this folder.
#pragma once

#include "engine/kernels/arithmetic.h"
#include "engine/kernels/cache_type.h"
#include "engine/kernels/cpu/lanes16.h"

namespace tandem::kernels::TANDEM_SET {

constexpr int kMaxHeadDim = 512;    // checked when a model is loaded
constexpr int kMaxQueries = 64;     // of a block
constexpr int kBlockFloats = 4096;  // queries of a block times their width
constexpr int kKeysPerVector = kWidest / kLanes;
constexpr int kRun = 8 * kKeysPerVector;  // keys whose scores come out of one fold
#ifdef __AVX512BW__
constexpr int kScoreQueries = 3, kValueQueries = 6;  // computed at a time: what the registers hold
#else
constexpr int kScoreQueries = 1, kValueQueries = 3;
#endif
constexpr int kValueVectors = 4;

constexpr int widthOf(int headDim) {
  return (headDim + 15) / 16 * 16;
}

// The fp32 keys and values of a tile.
struct Tile {
  // (run, element / 8, vector of eight, kWidest): vector j of a run holds, in AVX-512, keys j and j + 4 (j <
  // 4) or j + 4 and j + 8, else key j.
  alignas(64) float keys[kTile * kMaxHeadDim];
  alignas(64) float values[kTile * kMaxHeadDim];  // (key, width)
};

// What a query sees of the tile at hand: keys begin … end - 1.
struct Query {
  int begin, end;
  TANDEM_INLINE bool empty() const { return begin >= end; }
};

// A block's queries at one tile.
struct Block {
  int count;
  int stride, width;  // elements of a key; floats of a query and of a value
  float scale, softCap;
  Query query[kMaxQueries];
  alignas(64) float q[kBlockFloats];               // (query, width)
  alignas(64) float weights[kMaxQueries * kTile];  // scores, then exp(score - max)
};

// What tiles give, one after the other: maxima, sums and weighted values of `queries` queries.
struct Partial {
  float* max;
  float* sum;
  float* out;
};
TANDEM_INLINE Partial partialAt(float* p, int queries) {
  return {p, p + queries, p + 2 * queries};
}

template <int n>
struct Count {
  static constexpr int value = n;
};
// Calls body with a constant of 1 … most that is `count`.
template <int most, class Body>
TANDEM_INLINE void withCount(int count, Body body) {
  if constexpr (most > 1) {
    if (count < most) return withCount<most - 1>(count, body);
  }
  body(Count<most>());
}

TANDEM_INLINE float* keyVector(Tile& tile, int key, int stride) {
  const int run = key / kRun, k = key % kRun;
  const int vector = kKeysPerVector == 2 ? k / 8 * 4 + k % 4 : k, half = kKeysPerVector == 2 ? k / 4 % 2 : 0;
  return tile.keys + static_cast<std::size_t>(run) * kRun * stride + vector * kWidest + half * kLanes;
}

// A row from element `at` on, whose elements load() and loadWidest() turn to fp32.
template <RowType type>
struct RowOf;
template <>
struct RowOf<RowType::kF16> {
  using Row = const std::uint16_t*;
  TANDEM_INLINE static Row begin(const void* row, int) { return static_cast<Row>(row); }
};
template <>
struct RowOf<RowType::kF32> {
  using Row = const float*;
  TANDEM_INLINE static Row begin(const void* row, int) { return static_cast<Row>(row); }
};
template <>
struct RowOf<RowType::kInt8> {
  struct Row {
    const std::int8_t* q;
    const std::uint16_t* scales;
    int at;
    TANDEM_INLINE Row operator+(int i) const { return {q, scales, at + i}; }
    TANDEM_INLINE __m128 scale() const { return _mm_cvtph_ps(_mm_cvtsi32_si128(scales[at / kBlock])); }
  };
  TANDEM_INLINE static Row begin(const void* row, int stride) {
    const auto* q = static_cast<const std::int8_t*>(row);
    return {q, reinterpret_cast<const std::uint16_t*>(q + stride), 0};
  }
};
using Int8Row = RowOf<RowType::kInt8>::Row;

TANDEM_INLINE F8 load(Int8Row row) {
  const __m128i q = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(row.q + row.at));
  return {_mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(q)), _mm256_broadcastss_ps(row.scale()))};
}
TANDEM_INLINE Widest loadWidest(Int8Row row) {
#ifdef __AVX512BW__
  const __m128i q = _mm_loadu_si128(reinterpret_cast<const __m128i*>(row.q + row.at));
  return {_mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(q)), _mm512_broadcastss_ps(row.scale()))};
#else
  return load(row);
#endif
}

// Where a tile's keys and values are, and those of the tile after it, which are asked for meanwhile.
struct Source {
  const void* const* keys;
  const void* const* values;
  const char* nextKeys = nullptr;  // row after row; null: unknown
  const char* nextValues = nullptr;
};

TANDEM_INLINE void prefetchRow(const char* rows, int p, std::size_t bytes) {
  const char* row = rows + p * bytes;
  for (std::size_t at = 0; at < bytes; at += 64)
    _mm_prefetch(row + at, _MM_HINT_T1);  // more of them may be on their way than into the first level
}

// Keys begin … end - 1 of the tile to fp32; the others of their runs are zeros, which no weight will meet.
template <RowType type>
TANDEM_INLINE void loadKeys(const Source& source, int begin, int end, int stride, Tile& tile) {
  for (int p = begin / kRun * kRun; p < (end + kRun - 1) / kRun * kRun; ++p) {
    float* to = keyVector(tile, p, stride);
    const bool visible = p >= begin && p < end;
    if (source.nextKeys) prefetchRow(source.nextKeys, p, rowBytes(type, stride));
    for (int i = 0; i < stride; i += kLanes, to += 8 * kWidest)
      store(to, visible ? load(RowOf<type>::begin(source.keys[p], stride) + i) : zero());
  }
}
template <RowType type>
TANDEM_INLINE void loadValues(const Source& source, int begin, int end, int stride, int width, Tile& tile) {
  for (int p = begin; p < end; ++p) {
    const auto from = RowOf<type>::begin(source.values[p], stride);
    float* to = tile.values + static_cast<std::size_t>(p) * width;
    if (source.nextValues) prefetchRow(source.nextValues, p, rowBytes(type, stride));
    for (int i = 0; i < stride; i += kLanes)
      store(to + i, load(from + i));
    if (stride < width) store(to + stride, zero());
  }
}

// The folds ((l0+l4)+(l2+l6)) + ((l1+l5)+(l3+l7)) of a run's keys, in order of the keys.
TANDEM_INLINE Widest foldRun(const Widest (&x)[8]) {
#ifdef __AVX512BW__
  __m512 four[4];
  for (int j = 0; j < 4; ++j) {
    four[j] = _mm512_add_ps(_mm512_shuffle_f32x4(x[j].v, x[j + 4].v, 0x88),
                            _mm512_shuffle_f32x4(x[j].v, x[j + 4].v, 0xDD));
  }
  __m512 two[2];
  for (int j = 0; j < 2; ++j) {
    const __m512d a = _mm512_castps_pd(four[2 * j]), b = _mm512_castps_pd(four[2 * j + 1]);
    two[j] =
        _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(a, b)), _mm512_castpd_ps(_mm512_unpackhi_pd(a, b)));
  }
  return {_mm512_add_ps(_mm512_shuffle_ps(two[0], two[1], 0x88), _mm512_shuffle_ps(two[0], two[1], 0xDD))};
#else
  __m256 four[4];
  for (int j = 0; j < 4; ++j) {
    four[j] = _mm256_add_ps(_mm256_permute2f128_ps(x[j].v, x[j + 4].v, 0x20),
                            _mm256_permute2f128_ps(x[j].v, x[j + 4].v, 0x31));
  }
  __m256 two[2];
  for (int j = 0; j < 2; ++j) {
    const __m256d a = _mm256_castps_pd(four[2 * j]), b = _mm256_castps_pd(four[2 * j + 1]);
    two[j] =
        _mm256_add_ps(_mm256_castpd_ps(_mm256_unpacklo_pd(a, b)), _mm256_castpd_ps(_mm256_unpackhi_pd(a, b)));
  }
  return {_mm256_add_ps(_mm256_shuffle_ps(two[0], two[1], 0x88), _mm256_shuffle_ps(two[0], two[1], 0xDD))};
#endif
}

// Eight floats in every half of a vector.
TANDEM_INLINE Widest repeated(const float* p) {
#ifdef __AVX512BW__
  return {_mm512_broadcast_f32x8(_mm256_loadu_ps(p))};
#else
  return load(p);
#endif
}

// Scores of queries first … first + Q - 1 for the runs that hold keys begin … end - 1.
template <int Q>
TANDEM_INLINE void scoresOf(const Tile& tile, int begin, int end, int first, Block& block) {
  const float* q = block.q + static_cast<std::size_t>(first) * block.width;
  for (int run = begin / kRun; run * kRun < end; ++run) {
    const float* keys = tile.keys + static_cast<std::size_t>(run) * kRun * block.stride;
    Widest lanes[Q][8];
    TANDEM_UNROLL
    for (int h = 0; h < Q; ++h) {
      TANDEM_UNROLL
      for (int j = 0; j < 8; ++j)
        lanes[h][j] = broadcast<Widest>(0.0f);
    }
    for (int i = 0; i < block.stride; i += kLanes, keys += 8 * kWidest) {
      Widest eight[Q];
      TANDEM_UNROLL
      for (int h = 0; h < Q; ++h)
        eight[h] = repeated(q + h * block.width + i);
      TANDEM_UNROLL
      for (int j = 0; j < 8; ++j) {
        const Widest key = loadWidest(keys + j * kWidest);
        TANDEM_UNROLL
        for (int h = 0; h < Q; ++h)
          lanes[h][j] = fma(eight[h], key, lanes[h][j]);
      }
    }
    TANDEM_UNROLL
    for (int h = 0; h < Q; ++h) {
      Widest score = foldRun(lanes[h]) * broadcast<Widest>(block.scale);
      if (block.softCap > 0) score = kernels::softCap(score, broadcast<Widest>(block.softCap));
      store(block.weights + (first + h) * kTile + run * kRun, score);
    }
  }
}

// Turns a query's scores into exp(score - max). A lane of the sum is a position mod 8.
TANDEM_INLINE void weighAll(float* weights, float* max, float* sum) {
  F8 highest = load(weights);
  for (int p = kLanes; p < kTile; p += kLanes)
    highest = maxOf(highest, load(weights + p));
  *max = maximum(highest);
  for (int p = 0; p < kTile; p += kWidest)
    store(weights + p, exp(loadWidest(weights + p) - broadcast<Widest>(*max)));
  F8 lanes = zero();
  for (int p = 0; p < kTile; p += kLanes)
    lanes = lanes + load(weights + p);
  *sum = fold(lanes);
}

// The same where only a part of the tile is visible; the weights of the rest are +0.
TANDEM_INLINE void weighSome(float* weights, Query query, float* max, float* sum) {
  const F8 indices = {_mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7)};
  const F8 least = all(-__builtin_inff());
  const auto visible = [&](int p, F8 yes, F8 no) {
    const F8 position = indices + all(static_cast<float>(p));
    const F8 before = lessThan(position, all(static_cast<float>(query.begin)));
    const F8 inside = lessThan(position, all(static_cast<float>(query.end)));
    return select(before, no, select(inside, yes, no));
  };
  const int first = query.begin / kLanes * kLanes;
  F8 highest = least;
  for (int p = first; p < query.end; p += kLanes)
    highest = maxOf(highest, visible(p, load(weights + p), least));
  *max = maximum(highest);
  F8 lanes = zero();
  for (int p = first; p < query.end; p += kLanes) {
    const F8 w = visible(p, exp(load(weights + p) - all(*max)), zero());
    store(weights + p, w);
    lanes = lanes + w;
  }
  *sum = fold(lanes);
}

// out[h] = sum over keys begin … end - 1 of weight times value for Q queries, in the order of the keys; V
// vectors of each value, which stands at valueAt(key).
template <int Q, int V, class ValueAt>
TANDEM_INLINE void valuesOf(const ValueAt& valueAt, const float* weights, int width, int begin, int end,
                            float* out) {
  Widest sum[Q][V];
  TANDEM_UNROLL
  for (int h = 0; h < Q; ++h) {
    TANDEM_UNROLL
    for (int j = 0; j < V; ++j)
      sum[h][j] = broadcast<Widest>(0.0f);
  }
  for (int p = begin; p < end; ++p) {
    const auto value = valueAt(p);
    Widest w[Q];
    TANDEM_UNROLL
    for (int h = 0; h < Q; ++h)
      w[h] = broadcast<Widest>(weights[h * kTile + p]);
    TANDEM_UNROLL
    for (int j = 0; j < V; ++j) {
      const Widest v = loadWidest(value + j * kWidest);
      TANDEM_UNROLL
      for (int h = 0; h < Q; ++h)
        sum[h][j] = fma(w[h], v, sum[h][j]);
    }
  }
  TANDEM_UNROLL
  for (int h = 0; h < Q; ++h) {
    TANDEM_UNROLL
    for (int j = 0; j < V; ++j)
      store(out + static_cast<std::size_t>(h) * width + j * kWidest, sum[h][j]);
  }
}

template <int Q, class ValueAt>
TANDEM_INLINE void weightedValues(const ValueAt& valueAt, const Block& block, int first, float* out) {
  const Query query = block.query[first];
  const float* weights = block.weights + first * kTile;
  const auto from = [&valueAt](int i) { return [&valueAt, i](int p) { return valueAt(p) + i; }; };
  int i = 0;
  for (; i + kValueVectors * kWidest <= block.width; i += kValueVectors * kWidest)
    valuesOf<Q, kValueVectors>(from(i), weights, block.width, query.begin, query.end, out + i);
  for (; i < block.width; i += kWidest)
    valuesOf<Q, 1>(from(i), weights, block.width, query.begin, query.end, out + i);
}

// Weighted values of queries first … first + count - 1, those of a kind together.
template <class ValueAt>
TANDEM_INLINE void valuesOfTile(const ValueAt& valueAt, int first, int count, const Block& block,
                                const Partial& partial) {
  const Query* query = block.query + first;
  for (int h = 0; h < count;) {
    int alike = 1;
    while (alike < kValueQueries && h + alike < count && query[h + alike].begin == query[h].begin &&
           query[h + alike].end == query[h].end) {
      ++alike;
    }
    if (!query[h].empty()) {
      withCount<kValueQueries>(alike, [&](auto queries) {
        weightedValues<decltype(queries)::value>(
            valueAt, block, first + h, partial.out + static_cast<std::size_t>(first + h) * block.width);
      });
    }
    h += alike;
  }
}

// Scores and weights of queries first … first + count - 1 over the keys begin … end - 1, which are loaded.
TANDEM_INLINE void weightsOfTile(const Tile& tile, int begin, int end, int first, int count, Block& block,
                                 const Partial& partial) {
  for (int h = 0; h < count; h += kScoreQueries) {
    withCount<kScoreQueries>(count - h, [&](auto queries) {
      scoresOf<decltype(queries)::value>(tile, begin, end, first + h, block);
    });
  }
  const Query* query = block.query + first;
  for (int h = 0; h < count; ++h) {
    float* weights = block.weights + (first + h) * kTile;
    float *max = partial.max + first + h, *sum = partial.sum + first + h;
    if (query[h].begin == 0 && query[h].end == kTile) {
      weighAll(weights, max, sum);
    } else if (!query[h].empty()) {
      weighSome(weights, query[h], max, sum);
    }
  }
}

// Queries first … first + count - 1 of the block over a tile, of which keys begin … end - 1 are there.
// Queries that see nothing of it are left out. Values that few queries ask for are turned to fp32 as they are
// read, others once for all.
template <CacheType type>
TANDEM_INLINE void tileOf(const Source& source, int begin, int end, int first, int count, Block& block,
                          Tile& tile, const Partial& partial) {
  constexpr RowType kValues = valueRows(type);
  loadKeys<keyRows(type)>(source, begin, end, block.stride, tile);
  weightsOfTile(tile, begin, end, first, count, block, partial);
  if (count <= kValueQueries && block.stride == block.width) {
    for (int p = 0; source.nextValues && p < kTile; ++p)
      prefetchRow(source.nextValues, p, rowBytes(kValues, block.stride));
    const auto valueAt = [&](int p) { return RowOf<kValues>::begin(source.values[p], block.stride); };
    valuesOfTile(valueAt, first, count, block, partial);
  } else {
    loadValues<kValues>(source, begin, end, block.stride, block.width, tile);
    const auto valueAt = [&](int p) -> const float* {
      return tile.values + static_cast<std::size_t>(p) * block.width;
    };
    valuesOfTile(valueAt, first, count, block, partial);
  }
}

}  // namespace tandem::kernels::TANDEM_SET
