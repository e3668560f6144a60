// Random histories of requests that share beginnings: new texts, next turns, edits, branches, answers made
// anew and gone on with, drafts, cancels, small budgets, and if asked for also requests that run together and
// programs that end. Each request runs with a cache and without one, and what both leave is compared bit by
// bit.
#pragma once

#include <QtGlobal>
#include <functional>
#include <string>
#include <vector>

#include "tests/session/engine_of.h"

namespace tandem::test {

struct HistoryCounts {
  int requests = 0;
  int differing = 0;   // in tokens, logits, keys and values, or state
  int wrongReuse = 0;  // where nothing had been let go, and not exactly what can be known was taken over
  int whole = 0;       // no pass was needed for the prompt
  int together = 0;    // requests that ran with others
  int restarts = 0;
  long long prompt = 0, cached = 0;  // tokens
};

struct HistoryOptions {
  CacheFaults faults = {};
  int grid = 16;           // positions between two states
  int context = 300;       // of the longest text
  TokenId firstToken = 1;  // of the six that texts are made of
  bool company = false;    // whether some requests run together
  // What a program that starts has for a cache; asked again where one ends. Null: one in memory alone, of a
  // program that goes on.
  std::function<std::unique_ptr<PrefixCache>(PrefixCacheOptions)> start = {};
};

// The history of this seed.
HistoryCounts runHistory(Engine& engine, std::uint64_t seed, const HistoryOptions& options = {});

// Runs the histories of the seeds 1 to `count`; a difference is told with its seed, and ends it.
HistoryCounts runHistories(Engine& engine, int count, const std::function<HistoryOptions(int seed)>& options);

// The number of the run's histories; TANDEM_HISTORIES asks for more than the few of every day.
inline int histories(int few) {
  const int asked = qEnvironmentVariableIntValue("TANDEM_HISTORIES");
  return asked > 0 ? asked : few;
}

// Runs the request with the cache and without; whether all bits are equal. `stats`: of the run with the
// cache.
bool sameAsCold(Engine& engine, Generation request, PrefixCache& cache, GenerationStats* stats = nullptr);

// Decodes plainly, past end tokens, in so long a context.
Generation plainRequest(std::vector<TokenId> prompt, int tokens, int contextLength);
// Random tokens from 1 to 6.
std::vector<TokenId> randomText(int count, std::uint64_t seed);

}  // namespace tandem::test
