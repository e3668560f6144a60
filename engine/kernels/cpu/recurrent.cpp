// The convolution and the delta rule of recurrent layers: a lane is a channel, or an element of the
// value.
#include "engine/kernels/cpu/cpu_kernels.h"
#include "engine/kernels/cpu/f8.h"

namespace tandem::kernels::TANDEM_SET {
namespace {

TANDEM_INLINE F8 loadUpTo8(const float* p, int n) {
  return n >= 8 ? load(p) : loadSome(p, n);
}
TANDEM_INLINE void storeUpTo8(float* p, F8 x, int n) {
  n >= 8 ? store(p, x) : storeSome(p, x, n);
}

// The columns j … j + 8 G - 1 of the state. G registers hide the latency of the chain along the keys.
template <int G>
TANDEM_INLINE void columns(const DeltaStep& step, int j) {
  const int n = step.headDim;
  const F8 decay = all(step.decay);
  F8 sum[G];
  for (int g = 0; g < G; ++g)
    sum[g] = zero();
  for (int i = 0; i < n; ++i) {
    const float* row = step.state + static_cast<std::size_t>(i) * n + j;
    for (int g = 0; g < G; ++g)
      sum[g] = fma(loadUpTo8(row + 8 * g, n - j - 8 * g) * decay, all(step.k[i]), sum[g]);
  }
  F8 d[G];
  for (int g = 0; g < G; ++g) {
    d[g] = (loadUpTo8(step.v + j + 8 * g, n - j - 8 * g) - sum[g]) * all(step.beta);
    sum[g] = zero();
  }
  for (int i = 0; i < n; ++i) {
    float* row = step.state + static_cast<std::size_t>(i) * n + j;
    for (int g = 0; g < G; ++g) {
      const int left = n - j - 8 * g;
      const F8 state = fma(all(step.k[i]), d[g], loadUpTo8(row + 8 * g, left) * decay);
      storeUpTo8(row + 8 * g, state, left);
      if (step.q) sum[g] = fma(state, all(step.q[i]), sum[g]);
    }
  }
  for (int g = 0; g < G && step.q; ++g)
    storeUpTo8(step.out + j + 8 * g, sum[g], n - j - 8 * g);
}

}  // namespace

void convolve(const float* const* in, const float* weights, int taps, int n, float* out) {
  for (int i = 0; i < n; i += 8) {
    F8 sum = zero();
    for (int t = 0; t < taps; ++t) {
      sum = fma(loadUpTo8(in[t] + i, n - i), loadUpTo8(weights + static_cast<std::size_t>(t) * n + i, n - i),
                sum);
    }
    storeUpTo8(out + i, silu(sum), n - i);
  }
}

void deltaStep(const DeltaStep& step) {
  int j = 0;
  for (; j + 32 <= step.headDim; j += 32)
    columns<4>(step, j);
  for (; j < step.headDim; j += 8)
    columns<1>(step, j);
}

}  // namespace tandem::kernels::TANDEM_SET
