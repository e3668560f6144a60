// What is looked for among the logits of a whole vocabulary.
#include "engine/kernels/cpu/cpu_kernels.h"
#include "engine/kernels/cpu/lanes16.h"

namespace tandem::kernels::TANDEM_SET {
namespace {

// The highest number of each lane so far and where it was seen first. Indices are exact in fp32: a vocabulary
// is far below 2^24.
struct Highest {
  Widest value, index;
  TANDEM_INLINE void see(Widest x, Widest at) {
    const auto higher = lessThan(value, x);
    value = select(higher, x, value);
    index = select(higher, at, index);
  }
};

constexpr int kChains = 4;  // so that a comparison need not wait for the one before

}  // namespace

bool allFinite(const float* x, int n) {
  // x - x is 0 for a finite number and NaN for others; NaN stays NaN in a sum.
  Widest sum[kChains];
  for (Widest& s : sum)
    s = broadcast<Widest>(0.0f);
  int i = 0;
  for (; i + kChains * kWidest <= n; i += kChains * kWidest) {
    TANDEM_UNROLL
    for (int c = 0; c < kChains; ++c) {
      const Widest v = loadWidest(x + i + c * kWidest);
      sum[c] = sum[c] + (v - v);
    }
  }
  float lanes[kWidest];
  store(lanes, (sum[0] + sum[1]) + (sum[2] + sum[3]));
  float rest = 0;
  for (; i < n; ++i)
    rest += x[i] - x[i];
  for (int l = 0; l < kWidest; ++l)
    rest += lanes[l];
  return rest == 0.0f;
}

int argmax(const float* x, int n) {
  int best = 0, i = 0;
  if (n >= kChains * kWidest) {
    float count[kWidest];
    for (int l = 0; l < kWidest; ++l)
      count[l] = static_cast<float>(l);
    Highest highest[kChains];
    Widest at[kChains];
    for (int c = 0; c < kChains; ++c) {
      at[c] = loadWidest(count) + broadcast<Widest>(static_cast<float>(c * kWidest));
      highest[c] = {loadWidest(x + c * kWidest), at[c]};
    }
    const Widest step = broadcast<Widest>(static_cast<float>(kChains * kWidest));
    for (i = kChains * kWidest; i + kChains * kWidest <= n; i += kChains * kWidest) {
      TANDEM_UNROLL
      for (int c = 0; c < kChains; ++c) {
        at[c] = at[c] + step;
        highest[c].see(loadWidest(x + i + c * kWidest), at[c]);
      }
    }
    for (const Highest& h : highest) {
      float index[kWidest];
      store(index, h.index);
      for (int l = 0; l < kWidest; ++l) {
        const int seen = static_cast<int>(index[l]);
        if (x[seen] > x[best] || (x[seen] == x[best] && seen < best)) best = seen;
      }
    }
  }
  for (; i < n; ++i) {
    if (x[i] > x[best]) best = i;
  }
  return best;
}

}  // namespace tandem::kernels::TANDEM_SET
