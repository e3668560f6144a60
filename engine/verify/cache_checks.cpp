#include "engine/verify/cache_checks.h"

#include <algorithm>

#include "engine/session/generator.h"
#include "engine/verify/token_stream.h"

namespace tandem {
namespace {

constexpr int kGrid = 16;
constexpr std::size_t kRoom = std::size_t{4} << 30;

struct Answer {
  GenerationOutcome outcome;
  std::vector<float> logits;  // of all chosen rows, one after the other
};

Answer answer(Generator& generator, const std::vector<TokenId>& prompt, PrefixCache* cache,
              const std::atomic<bool>* cancel) {
  Generation request;
  request.prompt = prompt;
  request.maxTokens = 3;
  request.speculation = SpeculationOptions::off();
  request.endAtEndTokens = false;
  request.cache = cache;
  Answer result;
  result.outcome =
      generator.run(request,
                    {.chosen =
                         [&](TokenId, std::span<const float> logits) {
                           result.logits.insert(result.logits.end(), logits.begin(), logits.end());
                         }},
                    cancel);
  return result;
}

}  // namespace

Status checkResume(Decoder& decoder, const std::vector<TokenId>& text, const CacheFaults& faults,
                   const std::atomic<bool>* cancel, CheckResult& result) {
  const int size = std::min(static_cast<int>(text.size()), decoder.model().config().contextLength - 4) - 1;
  const std::vector<TokenId> base(text.begin(), text.begin() + size);
  TokenStream random(decoder.model().config().vocabulary, 31);
  std::vector<TokenId> other;
  while (static_cast<int>(other.size()) < size)
    other.push_back(random.next());

  Generator generator(decoder);
  PrefixCache cache(decoder.newSequence(), {.budget = kRoom, .grid = kGrid, .faults = faults});
  int resumed = 0, times = 0;
  const auto compare = [&](const std::vector<TokenId>& prompt) -> Status {
    const Answer cold = answer(generator, prompt, nullptr, cancel);
    const Sequence expected = generator.sequence();
    const Answer warm = answer(generator, prompt, &cache, cancel);
    for (const Answer* one : {&cold, &warm}) {
      if (!one->outcome.status.ok()) return one->outcome.status;
    }
    result.passed = result.passed && cold.logits.size() == warm.logits.size() &&
                    cold.outcome.tokens == warm.outcome.tokens && generator.sequence().sameBytes(expected);
    if (cold.logits.size() == warm.logits.size()) result.difference.add(cold.logits, warm.logits);
    resumed += warm.outcome.stats.cachedTokens;
    times += warm.outcome.stats.cachedTokens > 0;
    return {};
  };

  std::vector<std::vector<TokenId>> prompts = {other, base, base};  // the last is known whole
  for (const int length : {kGrid - 1, kGrid, kGrid + 1, 2 * kGrid - 1, kernels::kTile - 1, kernels::kTile,
                           kernels::kTile + 1, size - 3}) {
    if (length >= size) continue;
    prompts.emplace_back(base.begin(), base.begin() + length);
    prompts.back().push_back((base[length] + 1) % decoder.model().config().vocabulary);
  }
  for (const std::vector<TokenId>& prompt : prompts) {
    if (Status s = compare(prompt); !s.ok()) return s;
  }
  result.passed = result.passed && resumed > size;
  result.detail += (result.detail.empty() ? "" : "; ") + std::to_string(times) +
                   " prompts resumed in memory, " + std::to_string(resumed) + " tokens not read again";
  return {};
}

}  // namespace tandem
