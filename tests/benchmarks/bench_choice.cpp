#include <benchmark/benchmark.h>

#include <string>

#include "engine/sampler/sampler.h"
#include "tests/benchmarks/benchmarks.h"
#include "tests/kernels/random_weights.h"

namespace tandem::test {
namespace {

constexpr int kVocabulary = 262144;

struct Choice {
  const char* name;
  SamplingParams params;
};
const Choice kChoices[] = {
    {"greedy", {}},
    {"temperature", {.temperature = 0.8f}},
    {"top_k_40", {.temperature = 0.8f, .topK = 40}},
    {"top_p_0.95", {.temperature = 0.8f, .topP = 0.95f}},
    {"min_p_0.05", {.temperature = 0.8f, .minP = 0.05f}},
};

template <class Body>
void overLogits(benchmark::State& state, const Body& body) {
  const std::vector<float> logits = randomRows(1, kVocabulary, 1);
  std::uint64_t t = 0;
  for ([[maybe_unused]] auto _ : state)
    benchmark::DoNotOptimize(body(logits, t++));
  state.counters["GB/s"] =
      benchmark::Counter(1e-9 * kVocabulary * sizeof(float), benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace

void addChoiceBenchmarks() {
  benchmark::RegisterBenchmark("argmax/262144", [](benchmark::State& state) {
    overLogits(state, [](std::span<const float> logits, std::uint64_t) { return argmax(logits); });
  });
  for (const Choice& choice : kChoices) {
    const std::string name = std::string("sampling/") + choice.name + "/262144";
    benchmark::RegisterBenchmark(name.c_str(), [&choice](benchmark::State& state) {
      overLogits(state, [&choice](std::span<const float> logits, std::uint64_t t) {
        return chooseToken(logits, choice.params, t);
      });
    });
  }
}

}  // namespace tandem::test
