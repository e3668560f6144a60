// The scalar truth: each operation as docs/arithmetic.md writes it, without a thought for speed. What every
// other kernel set is compared with, and what runs on a CPU that has nothing better.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/kernels/arithmetic.h"
#include "engine/kernels/half.h"
#include "engine/kernels/kernel_set.h"
#include "engine/kernels/math32.h"
#include "engine/kernels/philox.h"
#include "engine/kernels/quant/dispatch.h"
#include "engine/kernels/reference/probe.h"
#include "engine/kernels/reference/reference_attention.h"

namespace tandem::kernels {
namespace {

bool quantizeRow(const float* x, int k, int row, const QuantizedRows& out) {
  std::int8_t* q = out.q + static_cast<std::size_t>(row) * k;
  const std::size_t firstBlock = static_cast<std::size_t>(row) * (k / kBlock);
  for (int b = 0; b < k / kBlock; ++b) {
    const float* in = x + b * kBlock;
    float amax = 0;
    for (int i = 0; i < kBlock; ++i) {
      if (!std::isfinite(in[i])) return false;
      amax = std::max(amax, std::fabs(in[i]));
    }
    float d = amax / 127.0f;
    float inverse = 1.0f / d;
    if (!std::isfinite(inverse)) d = inverse = 0.0f;
    int sums[2] = {0, 0};
    for (int i = 0; i < kBlock; ++i) {
      const int value = static_cast<int>(roundEven(in[i] * inverse));
      q[b * kBlock + i] = static_cast<std::int8_t>(value);
      sums[i / 16] += value;
    }
    out.d[firstBlock + b] = d;
    out.s[firstBlock + b] = d * static_cast<float>(sums[0] + sums[1]);
    out.sums[2 * (firstBlock + b)] = static_cast<std::int16_t>(sums[0]);
    out.sums[2 * (firstBlock + b) + 1] = static_cast<std::int16_t>(sums[1]);
  }
  return true;
}

constexpr int kRowsAtOnce = 32;  // rows for which a block is decoded once

// Column c of group g times rows first … first + count - 1 (rule 2); totals of each row into `total`.
template <class F>
void dotQuantized(const PackedMatrix& w, int g, int c, const QuantizedRows& x, int first, int count,
                  float (&total)[kRowsAtOnce]) {
  const int blocks = w.k() / kBlock, blocksPerUnit = F::kElements / kBlock;
  float slice[kRowsAtOnce] = {};
  std::fill(total, total + count, 0.0f);
  for (int b = 0; b < blocks; ++b) {
    const BlockView v = F::view(w.group(g) + (b / blocksPerUnit) * F::kPackedBytes, b % blocksPerUnit, c);
    const bool closesSlice = (b + 1) % (kSlice / kBlock) == 0 || b + 1 == blocks;
    for (int r = 0; r < count; ++r) {
      const std::size_t at = static_cast<std::size_t>(first + r) * blocks + b;
      const std::int8_t* a = x.q + at * kBlock;
      std::int32_t halves[2] = {0, 0};
      for (int i = 0; i < 16; ++i)
        halves[0] += v.q[i] * a[i];
      for (int i = 16; i < 32; ++i)
        halves[1] += v.q[i] * a[i];
      if constexpr (F::kKind == BlockKind::kTwoScales) {
        slice[r] = std::fmaf(static_cast<float>(halves[0]), v.scale * x.d[at], slice[r]);
        slice[r] = std::fmaf(static_cast<float>(halves[1]), v.secondScale * x.d[at], slice[r]);
      } else {
        const std::int32_t sum = v.sub[0] * halves[0] + v.sub[1] * halves[1];
        slice[r] = std::fmaf(static_cast<float>(sum), v.scale * x.d[at], slice[r]);
      }
      if constexpr (F::kKind == BlockKind::kScaleAndMinimum)
        slice[r] = std::fmaf(v.minimum, x.s[at], slice[r]);
      if constexpr (F::kKind == BlockKind::kScaleAndHalfMinima) {
        const std::int32_t sum = v.subMinimum[0] * x.sums[2 * at] + v.subMinimum[1] * x.sums[2 * at + 1];
        slice[r] = std::fmaf(static_cast<float>(sum), v.minimum * x.d[at], slice[r]);
      }
      if (closesSlice) {
        total[r] += slice[r];
        slice[r] = 0;
      }
    }
  }
}

// Calls body(column in the group, column) for the columns of the groups that exist.
template <class Body>
void forColumns(const PackedMatrix& w, int groupBegin, int groupEnd, Body&& body) {
  for (int g = groupBegin; g < groupEnd; ++g) {
    for (int c = 0; c < kGroup && g * kGroup + c < w.n(); ++c)
      body(g, c, g * kGroup + c);
  }
}

void matmulQuantized(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin, int groupEnd,
                     float* out, std::size_t outStride) {
  withFormat(w.format(), [&]<class F>(F) {
    if constexpr (F::kElements > 1) {
      forColumns(w, groupBegin, groupEnd, [&](int g, int c, int column) {
        for (int first = 0; first < rows; first += kRowsAtOnce) {
          const int count = std::min(kRowsAtOnce, rows - first);
          float total[kRowsAtOnce];
          dotQuantized<F>(w, g, c, x, first, count, total);
          for (int r = 0; r < count; ++r)
            out[(first + r) * outStride + column] = total[r];
        }
      });
    }
  });
}

template <class F>
float dotFloat(const PackedMatrix& w, int g, int c, const float* x) {
  float total = 0, slice = 0;
  for (int i = 0; i < w.k(); ++i) {
    slice = std::fmaf(x[i], F::value(w.group(g) + static_cast<std::size_t>(i) * F::kPackedBytes, c), slice);
    if ((i + 1) % kSlice == 0 || i + 1 == w.k()) {
      total += slice;
      slice = 0;
    }
  }
  return total;
}

void matmulFloat(const PackedMatrix& w, const float* x, int rows, int groupBegin, int groupEnd, float* out,
                 std::size_t outStride) {
  withFormat(w.format(), [&]<class F>(F) {
    if constexpr (F::kElements == 1) {
      forColumns(w, groupBegin, groupEnd, [&](int g, int c, int column) {
        for (int r = 0; r < rows; ++r) {
          out[r * outStride + column] = dotFloat<F>(w, g, c, x + static_cast<std::size_t>(r) * w.k());
        }
      });
    }
  });
}

void rmsNorm(const float* x, const float* weight, int n, float eps, float* out) {
  float lanes[kLanes] = {};
  for (int i = 0; i < n; ++i)
    lanes[i % kLanes] = std::fmaf(x[i], x[i], lanes[i % kLanes]);
  const float factor = 1.0f / std::sqrt(fold(lanes) / static_cast<float>(n) + eps);
  for (int i = 0; i < n; ++i)
    out[i] = weight ? (x[i] * factor) * weight[i] : x[i] * factor;
}

void rotate(float& a, float& b, float cosine, float sine) {
  const float x = a, y = b;
  a = x * cosine - y * sine;
  b = x * sine + y * cosine;
}

void ropeAdjacent(float* head, const float* cosine, const float* sine, int pairs) {
  for (int i = 0; i < pairs; ++i)
    rotate(head[2 * i], head[2 * i + 1], cosine[i], sine[i]);
}

void ropeHalves(float* head, const float* cosine, const float* sine, int pairs) {
  for (int i = 0; i < pairs; ++i)
    rotate(head[i], head[i + pairs], cosine[i], sine[i]);
}

// The row of q, then the scales of its blocks.
bool toInt8(const float* x, int n, void* out) {
  const int stride = roundUp(n, kLanes);
  auto* q = static_cast<std::int8_t*>(out);
  for (int begin = 0; begin < n; begin += kBlock) {
    const int count = std::min(kBlock, n - begin);
    if (!std::all_of(x + begin, x + begin + count, [](float v) { return std::isfinite(v); })) return false;
    float amax = 0;
    for (int i = 0; i < count; ++i)
      amax = std::max(amax, std::fabs(x[begin + i]));
    const std::uint16_t scale = floatToHalf(amax / 127.0f);
    const float d = halfToFloat(scale), inverse = d > 0 ? 1.0f / d : 0.0f;
    if (!std::isfinite(d)) return false;
    for (int i = 0; i < count; ++i) {
      const float nearest = roundEven(x[begin + i] * inverse);
      q[begin + i] = static_cast<std::int8_t>(std::clamp(nearest, -127.0f, 127.0f));
    }
    std::memcpy(q + stride + begin / kBlock * sizeof scale, &scale, sizeof scale);
  }
  std::fill(q + n, q + stride, std::int8_t{0});
  return true;
}

bool toCache(const float* x, int n, RowType type, void* out) {
  if (type == RowType::kInt8) return toInt8(x, n, out);
  bool finite = true;
  for (int i = 0; i < n; ++i) {
    if (type == RowType::kF16) {
      const std::uint16_t h = floatToHalf(x[i]);
      static_cast<std::uint16_t*>(out)[i] = h;
      finite &= (h & 0x7C00u) != 0x7C00u;
    } else {
      static_cast<float*>(out)[i] = x[i];
      finite &= std::isfinite(x[i]);
    }
  }
  return finite;
}

void gatedActivation(float* gate, const float* up, int n, Activation activation) {
  for (int i = 0; i < n; ++i)
    gate[i] = (activation == Activation::kSilu ? silu(gate[i]) : gelu(gate[i])) * up[i];
}

void sigmoidGate(float* x, const float* gate, int n) {
  for (int i = 0; i < n; ++i)
    x[i] = x[i] / (1.0f + exp(0.0f - gate[i]));
}

bool allFinite(const float* x, int n) {
  return std::all_of(x, x + n, [](float v) { return std::isfinite(v); });
}

int argmax(const float* x, int n) {
  return static_cast<int>(std::max_element(x, x + n) - x);
}

int atLeast(const float* x, int n, float threshold, int* indices) {
  int count = 0;
  for (int i = 0; i < n; ++i) {
    if (!(x[i] < threshold)) indices[count++] = i;
  }
  return count;
}

// 1 - u <= -log u, so the noise is at most -log(1 - u); 1 - u is at least what its upper word leaves.
int contenders(const float* logits, int n, const Draw& draw, int* tokens) {
  const PhiloxKey key = {static_cast<std::uint32_t>(draw.seed), static_cast<std::uint32_t>(draw.seed >> 32)};
  int count = 0;
  for (int i = 0; i < n; ++i) {
    const PhiloxCounter random =
        philox({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(draw.index),
                static_cast<std::uint32_t>(draw.index >> 32), draw.choice},
               key);
    const float least = static_cast<float>(~random[1] >> 8) * 0x1p-24f;
    const float score = (logits[i] - draw.highest) * draw.inverseTemperature;
    if (least < exp(score - draw.best) * 1.001f) tokens[count++] = i;  // the margin covers the rounding
  }
  return count;
}

void convolve(const float* const* in, const float* weights, int taps, int n, float* out) {
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int t = 0; t < taps; ++t)
      sum = std::fmaf(in[t][i], weights[static_cast<std::size_t>(t) * n + i], sum);
    out[i] = silu(sum);
  }
}

void deltaStep(const DeltaStep& step) {
  const int n = step.headDim;
  for (int j = 0; j < n; ++j) {  // an element of the value: a column of the state
    float* column = step.state + j;
    float known = 0;
    for (int i = 0; i < n; ++i) {
      column[i * n] *= step.decay;
      known = std::fmaf(column[i * n], step.k[i], known);
    }
    const float d = (step.v[j] - known) * step.beta;
    float out = 0;
    for (int i = 0; i < n; ++i) {
      column[i * n] = std::fmaf(step.k[i], d, column[i * n]);
      if (step.q) out = std::fmaf(column[i * n], step.q[i], out);
    }
    if (step.q) step.out[j] = out;
  }
}

void joinExperts(const float* const* outputs, const float* weights, int count, int n, float* out) {
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int e = 0; e < count; ++e)
      sum = std::fmaf(weights[e], outputs[e][i], sum);
    out[i] = sum;
  }
}

void add(float* x, const float* y, int n) {
  for (int i = 0; i < n; ++i)
    x[i] += y[i];
}

void scale(float* x, float factor, int n) {
  for (int i = 0; i < n; ++i)
    x[i] *= factor;
}

void softCapRow(float* x, float cap, int n) {
  for (int i = 0; i < n; ++i)
    x[i] = softCap(x[i], cap);
}

}  // namespace

void pickExperts(const float* scores, int experts, int used, int* picked, float* weights) {
  const auto before = [scores](int a, int b) {
    return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
  };
  int best = 0;
  for (int e = 1; e < experts; ++e) {
    if (before(e, best)) best = e;
  }
  float sum = 0;
  for (int e = 0; e < experts; ++e)
    sum += exp(scores[e] - scores[best]);
  int last = -1;
  float chosen = 0;
  for (int rank = 0; rank < used; ++rank) {
    int next = -1;
    for (int e = 0; e < experts; ++e) {
      if ((last < 0 || before(last, e)) && (next < 0 || before(e, next))) next = e;
    }
    picked[rank] = last = next;
    weights[rank] = exp(scores[next] - scores[best]) / sum;
    chosen += weights[rank];
  }
  constexpr float kLeast = 0x1p-14f;  // the smallest normal half, so that nothing is divided by zero
  for (int rank = 0; rank < used; ++rank)
    weights[rank] = weights[rank] / maxOf(chosen, kLeast);
}

const KernelSet& referenceKernels() {
  static constexpr KernelSet set = {
      .name = "scalar",
      .quantizeRow = quantizeRow,
      .matmulQuantized = matmulQuantized,
      .matmulFloat = matmulFloat,
      .rmsNorm = rmsNorm,
      .ropeAdjacent = ropeAdjacent,
      .ropeHalves = ropeHalves,
      .toCache = toCache,
      .attendF16 = reference::attendF16,
      .attendF32 = reference::attendF32,
      .attendVq8 = reference::attendVq8,
      .attendQ8 = reference::attendQ8,
      .joinTiles = reference::joinTiles,
      .gatedActivation = gatedActivation,
      .sigmoidGate = sigmoidGate,
      .add = add,
      .scale = scale,
      .softCap = softCapRow,
      .allFinite = allFinite,
      .argmax = argmax,
      .atLeast = atLeast,
      .contenders = contenders,
      .convolve = convolve,
      .deltaStep = deltaStep,
      .pickExperts = pickExperts,
      .joinExperts = joinExperts,
      .probeInt8 = reference::probeInt8,
      .probeFloat = reference::probeFloat,
      .probeRead = reference::probeRead,
  };
  return set;
}

}  // namespace tandem::kernels
