// The table of operations: everything the model's forward pass computes goes through one KernelSet. Each set
// gives the same bits (docs/arithmetic.md); the fastest one that this CPU can run is chosen when a model is
// loaded.
//
// The functions work on slices that the caller splits between threads; they allocate nothing and keep no
// state. Rows are fp32 and contiguous unless a stride is given. Tests put altered functions into a copy of a
// table to show that the checks catch them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/status.h"
#include "engine/kernels/cache_type.h"
#include "engine/kernels/packed_matrix.h"

namespace tandem::kernels {

// Rows quantised to int8 in blocks of 32 (rule 2): element = d * q, d = amax / 127. Row r of q starts at r *
// k, of d and s at r * k / 32, of sums at r * k / 16.
struct QuantizedRows {
  int k = 0;
  std::int8_t* q = nullptr;      // (rows, k)
  float* d = nullptr;            // (rows, k / 32)
  float* s = nullptr;            // (rows, k / 32): d * float(sum of q over the block)
  std::int16_t* sums = nullptr;  // (rows, k / 16): sum of q over each half block
};

// Attention of some rows over the keys of one KV head, for the `heads` query heads that share it. Row r sees
// positions begin[r] … end[r] - 1. Keys and values are rows as cache_type.h says, padded with zeros from
// headDim to stride (a multiple of kLanes); what no row sees is never read.
struct AttentionJob {
  int rows, heads, headDim, stride;
  const float* q;  // (heads, headDim) of row r at q + r * qStride
  float* out;      // likewise, at out + r * outStride
  std::size_t qStride, outStride;
  const int* begin;
  const int* end;
  // Tiles firstTile … tailTile - 1, the same for every row: kTile rows each, at [tile - firstTile].
  int firstTile, tailTile;
  const void* const* keyTiles;
  const void* const* valueTiles;
  // The positions after them, one by one: row r's at [r * tailStride + position - kTile * tailTile].
  const void* const* tailKeys;
  const void* const* tailValues;
  std::size_t tailStride;  // 0: every row reads the same list
  float scale;             // q·k is multiplied by this
  float softCap;           // 0: none
  // Null: out is written. Otherwise what tiles beginTile … endTile - 1 give is left here, as
  // tilePartialFloats() says, for joinTiles(); out is not touched.
  float* partials = nullptr;
  int beginTile = 0, endTile = 0;
};
// Floats that a tile leaves for `queries` rows' heads: their maxima, their sums, and (query, headDim rounded
// up to 16) weighted values. Tile t's lie at partials + (t - firstTile) * tilePartialFloats().
constexpr std::size_t tilePartialFloats(int queries, int headDim) {
  return static_cast<std::size_t>(queries) * (2 + (headDim + 15) / 16 * 16);
}
// First position of the tile that holds `position`.
constexpr int tileStart(int position) {
  return position / 64 * 64;
}

// One token's update of one head's matrix state by the gated delta rule (rule 6), and what the head reads
// from it. With S' = decay * S: d = (v - k S') * beta, then S = S' + k d^T, out = q S.
struct DeltaStep {
  const float* q;  // (headDim), or null: the state alone is wanted
  const float* k;  // (headDim)
  const float* v;  // (headDim)
  float decay, beta;
  int headDim;
  float* state;  // (headDim of keys, headDim of values)
  float* out;    // (headDim); unused without q
};

// A draw among all tokens of a vocabulary: token i scores (logit - highest) * inverseTemperature plus Gumbel
// noise from the uniform number of (seed, choice, index, i) (docs/sampling.md).
struct Draw {
  float highest;             // of the logits
  float inverseTemperature;  // at most 1e30
  float best;                // a score with its noise that is known already; below 40
  std::uint64_t seed;
  std::uint32_t choice;
  std::uint64_t index;
};

enum class Activation : std::uint8_t { kSilu, kGelu };

struct KernelSet {
  const char* name;

  // Quantises one row of k elements into row `row` of `out`. False when an element is not finite (nothing is
  // written that may be used then).
  bool (*quantizeRow)(const float* x, int k, int row, const QuantizedRows& out);

  // Rows that matmulQuantized brings into its own order together, for all the columns of one call: many rows
  // are best split between threads at multiples of it.
  static constexpr int kPanelRows = 32;

  // out[r * outStride + c] = row r times column c for rows 0 … rows - 1 and the columns of groups groupBegin
  // … groupEnd - 1. Columns past n are not written. REQUIRES: w.format() is quantised.
  void (*matmulQuantized)(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin,
                          int groupEnd, float* out, std::size_t outStride);
  // The same for F32 and F16 weights with fp32 rows of k elements.
  void (*matmulFloat)(const PackedMatrix& w, const float* x, int rows, int groupBegin, int groupEnd,
                      float* out, std::size_t outStride);

  // out = x / sqrt(mean(x^2) + eps) * weight, elementwise; `weight` may be null (then 1). In place allowed.
  void (*rmsNorm)(const float* x, const float* weight, int n, float eps, float* out);

  // Rotates the first 2 * pairs elements of a head by (cos, sin) pairs: adjacent elements (2i, 2i + 1), or
  // halves (i, i + pairs).
  void (*ropeAdjacent)(float* head, const float* cosine, const float* sine, int pairs);
  void (*ropeHalves)(float* head, const float* cosine, const float* sine, int pairs);

  // Writes n elements as a row of a cache (rule 4), of n rounded up to kLanes elements; those behind n are
  // left as they are, or zero. False when a result is not finite.
  bool (*toCache)(const float* x, int n, RowType type, void* out);

  void (*attendF16)(const AttentionJob& job);
  void (*attendF32)(const AttentionJob& job);
  void (*attendVq8)(const AttentionJob& job);
  void (*attendQ8)(const AttentionJob& job);
  // Joins the partials of all the job's tiles, left to right, and writes out.
  void (*joinTiles)(const AttentionJob& job);

  // gate = activation(gate) * up.
  void (*gatedActivation)(float* gate, const float* up, int n, Activation activation);
  void (*sigmoidGate)(float* x, const float* gate, int n);  // x *= sigmoid(gate)
  void (*add)(float* x, const float* y, int n);             // x += y
  void (*scale)(float* x, float factor, int n);             // x *= factor
  void (*softCap)(float* x, float cap, int n);              // x = cap tanh(x / cap)
  bool (*allFinite)(const float* x, int n);
  // Index of the highest of n >= 1 numbers, the lowest index of equal ones. REQUIRES: no NaN.
  int (*argmax)(const float* x, int n);
  // Writes the indices of all numbers of at least `threshold` in their order and returns how many. `indices`
  // has room for n.
  int (*atLeast)(const float* x, int n, float threshold, int* indices);
  // Writes tokens in their order, every one among them that may score more than draw.best, and returns how
  // many; which others are there may differ between sets. `tokens` has room for n.
  int (*contenders)(const float* logits, int n, const Draw& draw, int* tokens);

  // out = silu(sum over t of in[t] * weights[t]), each channel for itself, t ascending (oldest input first).
  // in: `taps` rows of n floats; weights: (taps, n).
  void (*convolve)(const float* const* in, const float* weights, int taps, int n, float* out);
  void (*deltaStep)(const DeltaStep& step);

  // The `used` experts with the highest scores, of equal ones the lower index first, by rank; a weight is the
  // expert's share of the softmax over all, divided by the sum of the picked shares in order of rank (rule
  // 7).
  void (*pickExperts)(const float* scores, int experts, int used, int* picked, float* weights);
  // out = sum over i of weights[i] * outputs[i], i ascending, for n elements.
  void (*joinExperts)(const float* const* outputs, const float* weights, int count, int n, float* out);

  // What the set can reach at most, for measurements (engine/measure/peaks.h). The first two compute in
  // registers alone, with the instructions that the matrix products use, and return how many multiply-adds
  // they did, in proportion to `steps`. The last one reads `bytes` bytes (a multiple of 512) and returns a
  // part of their sum.
  std::int64_t (*probeInt8)(std::int64_t steps);
  std::int64_t (*probeFloat)(std::int64_t steps);
  std::uint32_t (*probeRead)(const std::uint8_t* data, std::size_t bytes);
};

// The attention of a set for a cache type.
constexpr auto attentionOf(const KernelSet& set, CacheType type) {
  switch (type) {
    case CacheType::kF16:
      break;
    case CacheType::kF32:
      return set.attendF32;
    case CacheType::kVq8:
      return set.attendVq8;
    case CacheType::kQ8:
      return set.attendQ8;
  }
  return set.attendF16;
}

// Of every set: few numbers in one order, where no instruction set would help.
void pickExperts(const float* scores, int experts, int used, int* picked, float* weights);

const KernelSet& referenceKernels();  // plain C++, any x86-64

// The sets this CPU can run, slowest first; the last one is the default. `TANDEM_KERNELS` in the environment
// (a name) bounds the list to that set and those before it, as if the CPU had no more.
std::vector<const KernelSet*> availableKernels();
const KernelSet& bestKernels();
Result<const KernelSet*> kernelsByName(std::string_view name);

}  // namespace tandem::kernels
