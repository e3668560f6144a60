// Attention (rule 3): up to four query heads share each key and value that is read and converted.
#include "engine/kernels/arithmetic.h"
#include "engine/kernels/cpu/cpu_kernels.h"
#include "engine/kernels/cpu/f8.h"

namespace tandem::kernels::TANDEM_SET {
namespace {

constexpr int kMaxHeadDim = 512;  // checked when a model is loaded

// What H query heads have gathered so far.
template <int H>
struct State {
  float q[H][kMaxHeadDim];    // padded with zeros to the stride
  float out[H][kMaxHeadDim];  // weighted sum of values
  float max[H];
  float sum[H];
  bool started = false;
};

// weights[h][p] = score of key p, for begin <= p < end.
template <class T, int H>
TANDEM_INLINE void scores(const AttentionJob& job, const State<H>& state, const void* const* keys, int begin,
                          int end, float (&weights)[H][kTile]) {
  for (int p = begin; p < end; ++p) {
    const T* key = static_cast<const T*>(keys[p]);
    F8 lanes[H];
    for (int h = 0; h < H; ++h)
      lanes[h] = zero();
    for (int i = 0; i < job.stride; i += 8) {
      const F8 k = load(key + i);
      for (int h = 0; h < H; ++h)
        lanes[h] = fma(load(state.q[h] + i), k, lanes[h]);
    }
    for (int h = 0; h < H; ++h)
      weights[h][p] = fold(lanes[h]) * job.scale;
  }
}

TANDEM_INLINE float maximumOf(const float* weights, int begin, int end) {
  float m = weights[begin];
  for (int p = begin + 1; p < end; ++p)
    m = kernels::maxOf(m, weights[p]);
  return m;
}

// Turns scores into exp(score - max), +0 where nothing is visible; returns the folded sum. A lane is a
// position mod 8.
TANDEM_INLINE float exponentials(float* weights, float max, int begin, int end) {
  const F8 indices = {_mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7)};
  F8 lanes = zero();
  for (int p = begin / 8 * 8; p < end; p += 8) {
    const F8 position = indices + all(static_cast<float>(p));
    const F8 before = lessThan(position, all(static_cast<float>(begin)));
    const F8 inside = lessThan(position, all(static_cast<float>(end)));
    F8 w = exp(load(weights + p) - all(max));
    w = select(before, zero(), select(inside, w, zero()));
    store(weights + p, w);
    lanes = lanes + w;
  }
  return fold(lanes);
}

// tileOut[h] = sum over p of weight times value, one chain per element in the order of p.
template <class T, int H>
TANDEM_INLINE void weightedValues(const AttentionJob& job, const void* const* values, int begin, int end,
                                  const float (&weights)[H][kTile], float (&tileOut)[H][kMaxHeadDim]) {
  for (int i = 0; i < job.stride; i += 16) {
    const bool two = i + 8 < job.stride;
    F8 low[H], high[H];
    for (int h = 0; h < H; ++h)
      low[h] = high[h] = zero();
    for (int p = begin; p < end; ++p) {
      const T* value = static_cast<const T*>(values[p]) + i;
      const F8 v0 = load(value);
      const F8 v1 = two ? load(value + 8) : zero();
      for (int h = 0; h < H; ++h) {
        const F8 w = all(weights[h][p]);
        low[h] = fma(w, v0, low[h]);
        high[h] = fma(w, v1, high[h]);
      }
    }
    for (int h = 0; h < H; ++h) {
      store(tileOut[h] + i, low[h]);
      if (two) store(tileOut[h] + i + 8, high[h]);
    }
  }
}

// Joins one tile's (max, sum, out) to the state.
template <int H>
TANDEM_INLINE void merge(int stride, State<H>& state, const float (&tileMax)[H], const float (&tileSum)[H],
                         const float (&tileOut)[H][kMaxHeadDim]) {
  for (int h = 0; h < H; ++h) {
    if (!state.started) {
      state.max[h] = tileMax[h];
      state.sum[h] = tileSum[h];
      for (int i = 0; i < stride; i += 8)
        store(state.out[h] + i, load(tileOut[h] + i));
      continue;
    }
    const float newMax = kernels::maxOf(state.max[h], tileMax[h]);
    const float keep = kernels::exp(state.max[h] - newMax);
    const float take = kernels::exp(tileMax[h] - newMax);
    for (int i = 0; i < stride; i += 8) {
      store(state.out[h] + i, fma(load(tileOut[h] + i), all(take), load(state.out[h] + i) * all(keep)));
    }
    state.sum[h] = kernels::fma(tileSum[h], take, state.sum[h] * keep);
    state.max[h] = newMax;
  }
  state.started = true;
}

template <class T, int H>
void attendHeads(const AttentionJob& job, const float* q, float* out) {
  State<H> state;
  for (int h = 0; h < H; ++h) {
    for (int i = 0; i < job.stride; ++i)
      state.q[h][i] = i < job.headDim ? q[h * job.headDim + i] : 0.0f;
  }
  const int first = tileStart(job.begin);
  for (int tile = first; tile < job.end; tile += kTile) {
    const int begin = job.begin > tile ? job.begin - tile : 0;
    const int end = job.end - tile < kTile ? job.end - tile : kTile;
    float weights[H][kTile], tileMax[H], tileSum[H];
    float tileOut[H][kMaxHeadDim];
    for (int h = 0; h < H; ++h) {
      for (int p = 0; p < kTile; p += 8)
        store(weights[h] + p, zero());
    }
    scores<T, H>(job, state, job.keys + (tile - first), begin, end, weights);
    for (int h = 0; h < H; ++h) {
      if (job.softCap > 0) {
        for (int p = begin / 8 * 8; p < end; p += 8) {
          store(weights[h] + p, kernels::softCap(load(weights[h] + p), all(job.softCap)));
        }
      }
      tileMax[h] = maximumOf(weights[h], begin, end);
      tileSum[h] = exponentials(weights[h], tileMax[h], begin, end);
    }
    weightedValues<T, H>(job, job.values + (tile - first), begin, end, weights, tileOut);
    merge<H>(job.stride, state, tileMax, tileSum, tileOut);
  }
  for (int h = 0; h < H; ++h) {
    for (int i = 0; i < job.headDim; ++i)
      out[h * job.headDim + i] = state.out[h][i] / state.sum[h];
  }
}

template <class T>
TANDEM_INLINE void attend(const AttentionJob& job) {
  int h = 0;
  const auto q = [&](int head) { return job.q + static_cast<std::size_t>(head) * job.headDim; };
  const auto out = [&](int head) { return job.out + static_cast<std::size_t>(head) * job.headDim; };
  for (; h + 4 <= job.heads; h += 4)
    attendHeads<T, 4>(job, q(h), out(h));
  switch (job.heads - h) {
    case 3:
      attendHeads<T, 3>(job, q(h), out(h));
      break;
    case 2:
      attendHeads<T, 2>(job, q(h), out(h));
      break;
    case 1:
      attendHeads<T, 1>(job, q(h), out(h));
      break;
    default:
      break;
  }
}

}  // namespace

void attendF16(const AttentionJob& job) {
  attend<std::uint16_t>(job);
}
void attendF32(const AttentionJob& job) {
  attend<float>(job);
}

}  // namespace tandem::kernels::TANDEM_SET
