#include "tests/cache/histories.h"

#include <algorithm>

#include "engine/verify/token_stream.h"

namespace tandem::test {
namespace {

constexpr int kContext = 300;  // longer than the tiny models' own, so that texts cross several pages

// What a request left in the cache, as far as it can be known from outside.
struct Known {
  std::vector<TokenId> text;  // forwarded
  std::vector<int> marks;     // positions with a state
  int promptEnd = 0;
};

class History {
 public:
  History(Engine& engine, std::uint64_t seed, const CacheFaults& faults, int grid)
      : engine_(engine),
        random_(engine.decoder->model().config().vocabulary, seed * 2654435761u + 1),
        grid_(grid),
        endAnchor_(random_.below(4) != 0),
        roomy_(random_.below(3) != 0),
        cache_(engine.decoder->newSequence(),
               {.budget = roomy_ ? std::size_t{1} << 30 : budgetOf(2 + static_cast<int>(random_.below(8))),
                .grid = grid,
                .endAnchor = endAnchor_,
                .faults = faults}) {}

  HistoryCounts run() {
    const int requests = 4 + static_cast<int>(random_.below(5));
    for (int i = 0; i < requests; ++i) {
      if (random_.below(8) == 0) cancelWhileReading();
      answer(next());
    }
    return counts_;
  }

 private:
  // Room for so many pages with a state each.
  std::size_t budgetOf(int pages) const {
    const Sequence empty = engine_.decoder->newSequence();
    return pages * (empty.kv.layout().pageBytes() + empty.recurrent.bytes().size() + 4096);
  }

  std::vector<TokenId> tokens(int count) {
    std::vector<TokenId> result;
    while (static_cast<int>(result.size()) < count)
      result.push_back(static_cast<TokenId>(1 + random_.below(6)));
    return result;
  }
  int upTo(int most) { return 1 + static_cast<int>(random_.below(static_cast<std::uint64_t>(most))); }

  Generation next() {
    Generation request;
    const auto kind = earlier_.empty() ? 0 : random_.below(6);
    if (kind == 0) {
      request.prompt = tokens(upTo(150));
    } else {
      const Earlier& from = earlier_[random_.below(earlier_.size())];
      std::vector<TokenId> text = from.prompt;
      if (kind != 1) text.insert(text.end(), from.answer.begin(), from.answer.end());
      if (kind == 2) text.resize(static_cast<std::size_t>(upTo(static_cast<int>(text.size()))));  // an edit
      if (kind == 3 && !from.answer.empty()) {  // the answer is gone on with
        request.answerSoFar.assign(from.answer.begin(), from.answer.begin() + upTo(from.answer.size()));
        text = from.prompt;
      } else if (kind != 1) {  // 1: the same prompt again
        const std::vector<TokenId> more = tokens(upTo(40));
        text.insert(text.end(), more.begin(), more.end());
      }
      const std::size_t most = kContext - 60 - request.answerSoFar.size();
      if (text.size() > most) text.resize(most);
      request.prompt = std::move(text);
    }
    request.maxTokens = upTo(50);
    request.contextLength = kContext;
    request.endAtEndTokens = false;
    if (random_.below(2) == 0) request.sampling = {.temperature = 0.9f, .seed = random_.below(1000)};
    return request;
  }

  // Begins to read a text and stops.
  void cancelWhileReading() {
    Generation request = next();
    request.cache = &cache_;
    std::atomic<bool> cancel = false;
    const auto outcome =
        engine_.generator->run(request, {.prefill = [&](int, int) { cancel = true; }}, &cancel);
    counts_.differing += !outcome.status.ok();
    keep(request, outcome, request.prompt.size() + request.answerSoFar.size());
  }

  void answer(Generation request) {
    const int stopAfter = random_.below(4) == 0 ? upTo(request.maxTokens) : 0;
    const GenerationOutcome cold = run(request, stopAfter);
    const Sequence expected = engine_.generator->sequence();
    draft(request, cold.tokens);
    request.cache = &cache_;
    const GenerationOutcome warm = run(request, stopAfter);
    ++counts_.requests;
    counts_.prompt += warm.stats.promptTokens;
    counts_.cached += warm.stats.cachedTokens;
    counts_.whole += warm.stats.cachedTokens == warm.stats.promptTokens;
    counts_.differing += !cold.status.ok() || !warm.status.ok() || warm.tokens != cold.tokens ||
                         warm.stats.logitsFingerprint != cold.stats.logitsFingerprint ||
                         !engine_.generator->sequence().sameBytes(expected);
    std::vector<TokenId> context = request.prompt;
    context.insert(context.end(), request.answerSoFar.begin(), request.answerSoFar.end());
    if (roomy_) counts_.wrongReuse += warm.stats.cachedTokens != reusable(context);
    keep(request, warm, context.size());
    earlier_.push_back({request.prompt, request.answerSoFar});
    earlier_.back().answer.insert(earlier_.back().answer.end(), warm.tokens.begin(), warm.tokens.end());
  }

  GenerationOutcome run(const Generation& request, int stopAfter) {
    std::atomic<bool> cancel = false;
    int chosen = 0;
    return engine_.generator->run(
        request, {.chosen = [&](TokenId, std::span<const float>) { cancel = ++chosen == stopAfter; }},
        &cancel);
  }

  void draft(Generation& request, const std::vector<TokenId>& answer) {
    request.speculation = SpeculationOptions::off();
    const int nodes = upTo(kMaxDraftNodes);
    if (const auto kind = random_.below(4); kind == 1) {
      request.speculation = SpeculationOptions::chain(TokenOrigin::kOwnText, nodes);
    } else if (kind == 2) {
      request.speculation = SpeculationOptions::tree(TokenOrigin::kRandom, nodes);
    } else if (kind == 3 && engine_.decoder->model().weights().nextn) {
      request.speculation = SpeculationOptions::chain(TokenOrigin::kMtp, std::min(nodes, 5));
    } else if (kind == 3) {
      request.speculation = SpeculationOptions::tree(TokenOrigin::kOracle, nodes);
    }
    request.speculation.reference = answer;
    request.speculation.seed = random_.below(1000);
  }

  void keep(const Generation& request, const GenerationOutcome& outcome, std::size_t context) {
    Known known;
    known.text = request.prompt;
    known.text.insert(known.text.end(), request.answerSoFar.begin(), request.answerSoFar.end());
    known.text.insert(known.text.end(), outcome.tokens.begin(), outcome.tokens.end());
    known.text.resize(static_cast<std::size_t>(engine_.generator->sequence().length()));
    for (int line = (outcome.stats.cachedTokens / grid_ + 1) * grid_;
         line <= static_cast<int>(known.text.size()); line += grid_)
      known.marks.push_back(line);
    if (known.text.size() >= context && !outcome.tokens.empty()) {
      known.promptEnd = static_cast<int>(context);
      known.marks.push_back(known.promptEnd);
    }
    if (endAnchor_) known.marks.push_back(static_cast<int>(known.text.size()));
    known_.push_back(std::move(known));
  }

  // Tokens of the context that a cache which lets nothing go takes over.
  int reusable(const std::vector<TokenId>& context) const {
    int most = 0;
    const int size = static_cast<int>(context.size());
    for (const Known& known : known_) {
      const int common =
          static_cast<int>(std::ranges::mismatch(known.text, context).in1 - known.text.begin());
      if (known.promptEnd == size && common == size) return size;
      if (!cache_.stateful()) most = std::max(most, std::min(common, size - 1));
      if (!cache_.stateful()) continue;
      for (const int mark : known.marks) {
        if (mark <= common && mark < size) most = std::max(most, mark);
      }
    }
    return most;
  }

  struct Earlier {
    std::vector<TokenId> prompt, answer;
  };

  Engine& engine_;
  TokenStream random_;
  const int grid_;
  const bool endAnchor_, roomy_;
  PrefixCache cache_;
  std::vector<Known> known_;
  std::vector<Earlier> earlier_;
  HistoryCounts counts_;
};

}  // namespace

HistoryCounts runHistory(Engine& engine, std::uint64_t seed, const CacheFaults& faults, int grid) {
  return History(engine, seed, faults, grid).run();
}

bool sameAsCold(Engine& engine, Generation request, PrefixCache& cache, GenerationStats* stats) {
  request.cache = nullptr;
  const GenerationOutcome cold = engine.generator->run(request, {});
  const Sequence expected = engine.generator->sequence();
  request.cache = &cache;
  const GenerationOutcome warm = engine.generator->run(request, {});
  if (stats) *stats = warm.stats;
  return cold.status.ok() && warm.status.ok() && warm.tokens == cold.tokens &&
         warm.stats.logitsFingerprint == cold.stats.logitsFingerprint &&
         engine.generator->sequence().sameBytes(expected);
}

Generation plainRequest(std::vector<TokenId> prompt, int tokens, int contextLength) {
  Generation request;
  request.prompt = std::move(prompt);
  request.maxTokens = tokens;
  request.contextLength = contextLength;
  request.endAtEndTokens = false;
  request.speculation = SpeculationOptions::off();
  return request;
}

std::vector<TokenId> randomText(int count, std::uint64_t seed) {
  TokenStream random(6, seed);
  std::vector<TokenId> tokens;
  while (static_cast<int>(tokens.size()) < count)
    tokens.push_back(1 + random.next());
  return tokens;
}

}  // namespace tandem::test
