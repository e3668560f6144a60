#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "engine/kernels/kernel_set.h"
#include "tests/benchmarks/benchmarks.h"
#include "tests/kernels/random_weights.h"

namespace tandem::test {
namespace {

// One KV head of a small model and the query heads that share it.
constexpr int kHeads = 3, kHeadDim = 64;

void attend(benchmark::State& state, const kernels::KernelSet& set, kernels::CacheType type, int context,
            int queryRows) {
  const std::vector<float> q = randomRows(queryRows * kHeads, kHeadDim, 1, 1.0f);
  const std::vector<float> rows = randomRows(2 * context, kHeadDim, 2, 1.0f);
  const std::size_t keyBytes = rowBytes(keyRows(type), kHeadDim);
  std::vector<std::byte> cache(context * kernels::pairBytes(type, kHeadDim));
  std::vector<const void*> keys(context), values(context);
  for (int i = 0; i < 2 * context; ++i) {
    const bool key = i < context;
    const auto rowType = key ? keyRows(type) : valueRows(type);
    std::byte* row = cache.data() +
                     (key ? i * keyBytes : context * keyBytes + (i - context) * rowBytes(rowType, kHeadDim));
    if (!set.toCache(rows.data() + static_cast<std::size_t>(i) * kHeadDim, kHeadDim, rowType, row)) {
      state.SkipWithError("a row is not finite");
      return;
    }
    (key ? keys : values)[i % context] = row;
  }
  std::vector<float> out(q.size());
  const std::vector<int> begin(queryRows, 0), end(queryRows, context);
  const kernels::AttentionJob job = {.rows = queryRows,
                                     .heads = kHeads,
                                     .headDim = kHeadDim,
                                     .stride = kHeadDim,
                                     .q = q.data(),
                                     .out = out.data(),
                                     .qStride = kHeads * kHeadDim,
                                     .outStride = kHeads * kHeadDim,
                                     .begin = begin.data(),
                                     .end = end.data(),
                                     .firstTile = 0,
                                     .tailTile = 0,
                                     .keyTiles = nullptr,
                                     .valueTiles = nullptr,
                                     .tailKeys = keys.data(),
                                     .tailValues = values.data(),
                                     .tailStride = 0,
                                     .scale = 0.125f,
                                     .softCap = 0};
  const auto kernel = attentionOf(set, type);
  for ([[maybe_unused]] auto _ : state) {
    kernel(job);
    benchmark::ClobberMemory();
  }
  const auto perSecond = benchmark::Counter::kIsIterationInvariantRate;
  state.counters["GMAC/s"] = benchmark::Counter(2e-9 * queryRows * kHeads * kHeadDim * context, perSecond);
  state.counters["GB/s"] = benchmark::Counter(1e-9 * static_cast<double>(cache.size()), perSecond);
}

}  // namespace

void addAttentionBenchmarks() {
  for (const kernels::KernelSet* set : kernels::availableKernels()) {
    for (const auto type : kernels::kCacheTypes) {
      const std::string name =
          std::string("attention/") + set->name + "/" + kernels::cacheTypeName(type) + "/";
      for (const int context : {64, 512, 4096, 32768}) {
        for (const int rows : {1, 21}) {  // a token's, a block's of a prompt
          benchmark::RegisterBenchmark(
              (name + std::to_string(context) + "/" + std::to_string(rows)).c_str(),
              [=](benchmark::State& state) { attend(state, *set, type, context, rows); });
        }
      }
    }
  }
}

}  // namespace tandem::test
