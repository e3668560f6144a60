#include "engine/verify/cache_checks.h"

#include <algorithm>

#include "engine/base/temporary_folder.h"
#include "engine/cache/disk_cache.h"
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

std::vector<TokenId> otherText(const Decoder& decoder, int size) {
  TokenStream random(decoder.model().config().vocabulary, 31);
  std::vector<TokenId> other;
  while (static_cast<int>(other.size()) < size)
    other.push_back(random.next());
  return other;
}

// Prompts that go on otherwise than `base` behind so many of its tokens.
std::vector<std::vector<TokenId>> branches(const std::vector<TokenId>& base, int vocabulary,
                                           std::initializer_list<int> lengths) {
  std::vector<std::vector<TokenId>> prompts;
  for (const int length : lengths) {
    if (length >= static_cast<int>(base.size())) continue;
    prompts.emplace_back(base.begin(), base.begin() + length);
    prompts.back().push_back((base[length] + 1) % vocabulary);
  }
  return prompts;
}

// Answers prompts without the cache and with it.
struct Resumes {
  Generator& generator;
  const std::atomic<bool>* cancel;
  CheckResult& result;
  int times = 0, tokens = 0;  // that were not read again

  Status compare(const std::vector<TokenId>& prompt, PrefixCache& cache) {
    const Answer cold = answer(generator, prompt, nullptr, cancel);
    const Sequence expected = generator.sequence();
    const Answer warm = answer(generator, prompt, &cache, cancel);
    for (const Answer* one : {&cold, &warm}) {
      if (!one->outcome.status.ok()) return one->outcome.status;
    }
    result.passed = result.passed && cold.logits.size() == warm.logits.size() &&
                    cold.outcome.tokens == warm.outcome.tokens && generator.sequence().sameBytes(expected);
    if (cold.logits.size() == warm.logits.size()) result.difference.add(cold.logits, warm.logits);
    tokens += warm.outcome.stats.cachedTokens;
    times += warm.outcome.stats.cachedTokens > 0;
    return {};
  }
  void tell(const char* where) {
    result.detail += (result.detail.empty() ? "" : "; ") + std::to_string(times) + " prompts resumed " +
                     where + ", " + std::to_string(tokens) + " tokens not read again";
  }
};

// The longest text that the model's context has room for with an answer, but for its last token.
std::vector<TokenId> baseOf(const Decoder& decoder, const std::vector<TokenId>& text) {
  const int size = std::min(static_cast<int>(text.size()), decoder.model().config().contextLength - 4) - 1;
  return {text.begin(), text.begin() + size};
}

}  // namespace

Status checkResume(Decoder& decoder, const std::vector<TokenId>& text, const CacheFaults& faults,
                   const std::atomic<bool>* cancel, CheckResult& result) {
  const std::vector<TokenId> base = baseOf(decoder, text);
  const int size = static_cast<int>(base.size());
  std::vector<std::vector<TokenId>> prompts = {otherText(decoder, size), base,
                                               base};  // the last is known whole
  for (auto& prompt : branches(base, decoder.model().config().vocabulary,
                               {kGrid - 1, kGrid, kGrid + 1, 2 * kGrid - 1, kernels::kTile - 1,
                                kernels::kTile, kernels::kTile + 1, size - 3}))
    prompts.push_back(std::move(prompt));
  Generator generator(decoder);
  PrefixCache cache(decoder.newSequence(), {.budget = kRoom, .grid = kGrid, .faults = faults});
  Resumes resumes{generator, cancel, result};
  for (const std::vector<TokenId>& prompt : prompts) {
    if (Status s = resumes.compare(prompt, cache); !s.ok()) return s;
  }
  result.passed = result.passed && resumes.tokens > size;
  resumes.tell("in memory");
  return {};
}

Status checkDiskResume(Decoder& decoder, const std::vector<TokenId>& text, const OpenTextIndex& openIndex,
                       const DiskFaults& faults, const std::atomic<bool>* cancel, CheckResult& result) {
  const std::vector<TokenId> base = baseOf(decoder, text);
  const int size = static_cast<int>(base.size());
  const int vocabulary = decoder.model().config().vocabulary;
  const TemporaryFolder folder("tandem-verify");
  if (folder.path.empty())
    return Error{ErrorCode::kIo, "No folder for temporary files can be made; TMPDIR names one."};
  Generator generator(decoder);
  Resumes resumes{generator, cancel, result};
  // Each prompt in a program of its own: what it knows comes from the files of those before.
  const auto inNewProgram = [&](const std::vector<TokenId>& prompt) {
    DiskCacheOptions options;
    options.folder = {.path = folder.path, .freeDisk = 0, .openIndex = openIndex, .faults = faults};
    options.settle = std::chrono::milliseconds(0);
    options.closeTime = std::chrono::minutes(1);
    PrefixCache cache(decoder.newSequence(), {.budget = kRoom, .grid = kGrid});
    cache.setDisk(std::make_shared<DiskCache>(options, decoder.model().fingerprint(), decoder.newSequence(),
                                              vocabulary));
    return resumes.compare(prompt, cache);
  };
  std::vector<std::vector<TokenId>> prompts = {otherText(decoder, size), base, base};
  for (auto& prompt : branches(base, vocabulary, {2 * kGrid, kernels::kTile, size - 3}))
    prompts.push_back(std::move(prompt));
  for (const std::vector<TokenId>& prompt : prompts) {
    if (Status s = inNewProgram(prompt); !s.ok()) return s;
  }
  result.passed = result.passed && resumes.tokens > size;
  resumes.tell("from disk");
  return {};
}

}  // namespace tandem
