#include <benchmark/benchmark.h>

#include "tests/benchmarks/benchmarks.h"

int main(int argc, char** argv) {
  tandem::test::addMatmulBenchmarks();
  tandem::test::addAttentionBenchmarks();
  tandem::test::addChoiceBenchmarks();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  return benchmark::RunSpecifiedBenchmarks() > 0 ? 0 : 1;
}
