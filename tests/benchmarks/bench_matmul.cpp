#include <benchmark/benchmark.h>

#include <string>

#include "engine/kernels/kernel_set.h"
#include "tests/benchmarks/benchmarks.h"
#include "tests/kernels/random_weights.h"

namespace tandem::test {
namespace {

// A matrix of a small model's feed-forward.
constexpr int kColumns = 1536, kLength = 1024;

struct FormatName {
  WeightFormat format;
  const char* name;
};
constexpr FormatName kFormats[] = {
    {WeightFormat::kF32, "F32"},     {WeightFormat::kF16, "F16"},       {WeightFormat::kBF16, "BF16"},
    {WeightFormat::kQ4_0, "Q4_0"},   {WeightFormat::kQ4_1, "Q4_1"},     {WeightFormat::kQ5_0, "Q5_0"},
    {WeightFormat::kQ5_1, "Q5_1"},   {WeightFormat::kQ8_0, "Q8_0"},     {WeightFormat::kQ2_K, "Q2_K"},
    {WeightFormat::kQ3_K, "Q3_K"},   {WeightFormat::kQ4_K, "Q4_K"},     {WeightFormat::kQ5_K, "Q5_K"},
    {WeightFormat::kQ6_K, "Q6_K"},   {WeightFormat::kIQ4_NL, "IQ4_NL"}, {WeightFormat::kIQ4_XS, "IQ4_XS"},
    {WeightFormat::kMXFP4, "MXFP4"}, {WeightFormat::kNVFP4, "NVFP4"}};
static_assert(std::size(kFormats) == kernels::kWeightFormatCount);

void multiply(benchmark::State& state, const kernels::KernelSet& set, WeightFormat format, int rows) {
  const PackedMatrix w = packed(format, kColumns, kLength, randomBlocks(format, kColumns, kLength, 1));
  const std::vector<float> x = randomRows(rows, kLength, 2);
  Quantized quantized(rows, kLength);
  for (int r = 0; r < rows; ++r) {
    if (!set.quantizeRow(x.data() + static_cast<std::size_t>(r) * kLength, kLength, r, quantized.rowsOf)) {
      state.SkipWithError("a row is not finite");
      return;
    }
  }
  std::vector<float> out(static_cast<std::size_t>(rows) * kColumns);
  for ([[maybe_unused]] auto _ : state) {
    if (kernels::isFloatFormat(format)) {
      set.matmulFloat(w, x.data(), rows, 0, w.groups(), out.data(), kColumns);
    } else {
      set.matmulQuantized(w, quantized.rowsOf, rows, 0, w.groups(), out.data(), kColumns);
    }
    benchmark::ClobberMemory();
  }
  const auto perSecond = benchmark::Counter::kIsIterationInvariantRate;
  state.counters["GMAC/s"] = benchmark::Counter(1e-9 * kColumns * kLength * rows, perSecond);
  state.counters["GB/s"] = benchmark::Counter(1e-9 * static_cast<double>(w.bytes()), perSecond);
}

}  // namespace

void addMatmulBenchmarks() {
  for (const kernels::KernelSet* set : kernels::availableKernels()) {
    for (const FormatName& format : kFormats) {
      for (const int rows : {1, 4, 8, 16, 24, 64}) {
        const std::string name =
            std::string("matmul/") + set->name + "/" + format.name + "/" + std::to_string(rows);
        benchmark::RegisterBenchmark(name.c_str(),
                                     [set, kind = format.format, rows](benchmark::State& state) {
                                       multiply(state, *set, kind, rows);
                                     });
      }
    }
  }
}

}  // namespace tandem::test
