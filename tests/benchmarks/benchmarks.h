// The benchmarks of single kernels, registered for every kernel set that this CPU can run. Each runs on one
// thread.
#pragma once

namespace tandem::test {

void addMatmulBenchmarks();     // matmul/SET/FORMAT/ROWS: GMAC/s, and GB/s of packed weights
void addAttentionBenchmarks();  // attention/SET/TYPE/CONTEXT: GMAC/s, and GB/s of keys and values
void addChoiceBenchmarks();     // argmax and sampling over 262,144 logits: GB/s

}  // namespace tandem::test
