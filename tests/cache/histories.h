// Random histories of requests that share beginnings: new texts, next turns, edits, branches, answers made
// anew and gone on with, drafts, cancels, small budgets. Each request runs with a cache and without one, and
// what both leave is compared bit by bit.
#pragma once

#include <QtGlobal>
#include <string>
#include <vector>

#include "tests/session/engine_of.h"

namespace tandem::test {

struct HistoryCounts {
  int requests = 0;
  int differing = 0;   // in tokens, logits, keys and values, or state
  int wrongReuse = 0;  // where nothing had been let go, and not exactly what can be known was taken over
  int whole = 0;       // no pass was needed for the prompt
  long long prompt = 0, cached = 0;  // tokens
};

// The history of this seed. The cache keeps states every `grid` positions.
HistoryCounts runHistory(Engine& engine, std::uint64_t seed, const CacheFaults& faults = {}, int grid = 16);

// Runs the request with the cache and without; whether all bits are equal. `stats`: of the run with the
// cache.
bool sameAsCold(Engine& engine, Generation request, PrefixCache& cache, GenerationStats* stats = nullptr);

// Decodes plainly, past end tokens, in so long a context.
Generation plainRequest(std::vector<TokenId> prompt, int tokens, int contextLength);
// Random tokens from 1 to 6.
std::vector<TokenId> randomText(int count, std::uint64_t seed);

}  // namespace tandem::test
