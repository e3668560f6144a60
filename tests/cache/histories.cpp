#include "tests/cache/histories.h"

#include <algorithm>

#include "engine/session/slots.h"
#include "engine/verify/token_stream.h"

namespace tandem::test {
namespace {

// What a request left in the cache, as far as it can be known from outside.
struct Known {
  std::vector<TokenId> text;  // forwarded
  std::vector<int> marks;     // positions with a state
  int promptEnd = 0;
};

class History {
 public:
  History(Engine& engine, std::uint64_t seed, const HistoryOptions& options)
      : engine_(engine),
        options_(options),
        random_(engine.decoder->model().config().vocabulary, seed * 2654435761u + 1),
        endAnchor_(random_.below(4) != 0),
        foreseen_(random_.below(3) != 0),
        cacheOptions_{
            .budget = foreseen_ ? std::size_t{1} << 30 : budgetOf(2 + static_cast<int>(random_.below(8))),
            .grid = options.grid,
            .endAnchor = endAnchor_,
            .faults = options.faults} {
    start();
  }

  HistoryCounts run() {
    const int requests = 4 + static_cast<int>(random_.below(5));
    for (int i = 0; i < requests; ++i) {
      if (random_.below(8) == 0) cancelWhileReading();
      if (options_.start && random_.below(4) == 0) restart();
      if (options_.company && random_.below(3) == 0) {
        together(2 + static_cast<int>(random_.below(3)));
      } else {
        answer(next());
      }
    }
    return counts_;
  }

 private:
  void start() {
    cache_ = options_.start ? options_.start(cacheOptions_)
                            : std::make_unique<PrefixCache>(engine_.decoder->newSequence(), cacheOptions_);
  }
  void restart() {
    cache_.reset();
    start();
    ++counts_.restarts;
    foreseen_ = false;
  }

  // Room for so many pages with a state each.
  std::size_t budgetOf(int pages) const {
    const Sequence empty = engine_.decoder->newSequence();
    return pages * (empty.kv.layout().pageBytes() + empty.recurrent.bytes().size() + 4096);
  }

  std::vector<TokenId> tokens(int count) {
    std::vector<TokenId> result;
    while (static_cast<int>(result.size()) < count)
      result.push_back(options_.firstToken + static_cast<TokenId>(random_.below(6)));
    return result;
  }
  int upTo(int most) { return 1 + static_cast<int>(random_.below(static_cast<std::uint64_t>(most))); }

  Generation next() {
    Generation request;
    const auto kind = earlier_.empty() ? 0 : random_.below(6);
    if (kind == 0) {
      request.prompt = tokens(upTo(options_.context / 2));
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
      const std::size_t most = static_cast<std::size_t>(options_.context) - 60 - request.answerSoFar.size();
      if (text.size() > most) text.resize(most);
      request.prompt = std::move(text);
    }
    request.maxTokens = upTo(50);
    request.contextLength = options_.context;
    request.endAtEndTokens = false;
    if (random_.below(2) == 0) request.sampling = {.temperature = 0.9f, .seed = random_.below(1000)};
    return request;
  }

  // Begins to read a text and stops.
  void cancelWhileReading() {
    Generation request = next();
    request.cache = cache_.get();
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
    request.cache = cache_.get();
    const GenerationOutcome warm = run(request, stopAfter);
    count(warm);
    counts_.differing += !sameText(cold, warm) || !engine_.generator->sequence().sameBytes(expected);
    std::vector<TokenId> context = request.prompt;
    context.insert(context.end(), request.answerSoFar.begin(), request.answerSoFar.end());
    if (foreseen_) counts_.wrongReuse += warm.stats.cachedTokens != reusable(context);
    keep(request, warm, context.size());
    remember(request, warm);
  }

  // Requests that run together, some of them stopped. Their rows are compared by what later ones take over.
  void together(int number) {
    struct One {
      Generation request;
      GenerationOutcome cold, warm;
      std::atomic<bool> cancel = false;
      int chosen = 0, stopAfter = 0;
    };
    std::vector<std::unique_ptr<One>> all;
    Slots slots(*engine_.decoder, engine_.generator->speculation(), number);
    for (int i = 0; i < number; ++i) {
      One& one = *all.emplace_back(std::make_unique<One>());
      one.request = next();
      one.stopAfter = random_.below(4) == 0 ? upTo(one.request.maxTokens) : 0;
      one.cold = run(one.request, one.stopAfter);
      draft(one.request, one.cold.tokens);
      one.request.cache = cache_.get();
      const auto chosen = [&one](TokenId, std::span<const float>) {
        one.cancel = ++one.chosen == one.stopAfter;
      };
      slots.start({.generation = one.request,
                   .callbacks = {.chosen = chosen},
                   .cancel = &one.cancel,
                   .ended = [&one](GenerationOutcome outcome) { one.warm = std::move(outcome); }});
      for (auto steps = random_.below(3); steps > 0 && slots.running() > 0; --steps)
        slots.step();
    }
    while (slots.running() > 0)
      slots.step();
    for (const auto& one : all) {
      count(one->warm);
      counts_.differing += !sameText(one->cold, one->warm);
      remember(one->request, one->warm);
    }
    counts_.together += number;
    foreseen_ = false;
  }

  static bool sameText(const GenerationOutcome& cold, const GenerationOutcome& warm) {
    return cold.status.ok() && warm.status.ok() && warm.tokens == cold.tokens &&
           warm.stats.logitsFingerprint == cold.stats.logitsFingerprint;
  }
  void count(const GenerationOutcome& warm) {
    ++counts_.requests;
    counts_.prompt += warm.stats.promptTokens;
    counts_.cached += warm.stats.cachedTokens;
    counts_.whole += warm.stats.cachedTokens == warm.stats.promptTokens;
  }
  void remember(const Generation& request, const GenerationOutcome& outcome) {
    earlier_.push_back({request.prompt, request.answerSoFar});
    std::vector<TokenId>& answer = earlier_.back().answer;
    answer.insert(answer.end(), outcome.tokens.begin(), outcome.tokens.end());
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
    const int grid = options_.grid;
    for (int line = (outcome.stats.cachedTokens / grid + 1) * grid;
         line <= static_cast<int>(known.text.size()); line += grid)
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
      if (!cache_->stateful()) most = std::max(most, std::min(common, size - 1));
      if (!cache_->stateful()) continue;
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
  const HistoryOptions options_;
  TokenStream random_;
  const bool endAnchor_;
  bool foreseen_;  // whether it can be told what is taken over: nothing was let go, or left unseen
  const PrefixCacheOptions cacheOptions_;
  std::unique_ptr<PrefixCache> cache_;
  std::vector<Known> known_;
  std::vector<Earlier> earlier_;
  HistoryCounts counts_;
};

}  // namespace

HistoryCounts runHistory(Engine& engine, std::uint64_t seed, const HistoryOptions& options) {
  return History(engine, seed, options).run();
}

HistoryCounts runHistories(Engine& engine, int count,
                           const std::function<HistoryOptions(int seed)>& options) {
  HistoryCounts sum;
  for (int seed = 1; seed <= count; ++seed) {
    const HistoryCounts one = runHistory(engine, static_cast<std::uint64_t>(seed), options(seed));
    sum.requests += one.requests;
    sum.differing += one.differing;
    sum.wrongReuse += one.wrongReuse;
    sum.whole += one.whole;
    sum.together += one.together;
    sum.restarts += one.restarts;
    sum.prompt += one.prompt;
    sum.cached += one.cached;
    if (one.differing + one.wrongReuse == 0) continue;
    qWarning("history %d: %d requests differ, %d reuse what they should not or less than they could", seed,
             one.differing, one.wrongReuse);
    return sum;
  }
  qInfo(
      "seeds 1 ... %d: %d requests, %d of them together, %d restarts, %lld of %lld prompt tokens from the "
      "cache, %d prompts whole",
      count, sum.requests, sum.together, sum.restarts, sum.cached, sum.prompt, sum.whole);
  return sum;
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
