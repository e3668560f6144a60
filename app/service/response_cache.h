// Answers that the very same request gets again, without a pass. Only for requests that ask for it: a
// measurement must never be pointed at a dictionary. Only greedy answers that came to their own end, or to a
// limit, and only where the prompt's tokens and every option that decides the text are equal; hashes lead
// there and decide nothing.
//
// Belongs to a LoadedEngine: one model, one arithmetic, one cache type, one context length. Any thread may
// call.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "app/service/engine_backend.h"

namespace tandem::service {

// Wrong on purpose, so that tests can show that they would see it.
struct ResponseFaults {
  bool oneHash = false;        // all requests have the same hash; not a fault as long as they are compared
  bool trustHash = false;      // requests of equal hash are taken for equal
  bool ignoreOptions = false;  // only the prompts are compared
};

struct ResponseCacheOptions {
  std::size_t budget = std::size_t{64} << 20;  // bytes; the least recently used goes first
  ResponseFaults faults = {};
};

// All that decides what a greedy request is answered. Also what at temperature 0 decides nothing is compared.
struct ResponseKey {
  std::vector<TokenId> prompt;
  SamplingParams sampling = {};
  int maxTokens = 0;
  std::vector<std::string> stop = {};
  std::vector<TokenId> stopTokens = {};
  int minTokens = 0;
  ReasoningOptions reasoning = {};
  ConstraintSpec constraint = {};
  bool fingerprint = false;  // decides what its figures hold

  bool operator==(const ResponseKey&) const = default;
};

// An answer as it was streamed, log probabilities included.
struct Response {
  std::vector<TextPiece> pieces = {};
  GenerationStats stats = {};
  ReasoningStats reasoning = {};

  std::vector<TokenId> tokens() const;
};

// Whether the request may be answered from the cache, and its answer kept there: it asks for it, is greedy,
// and its text depends on nothing but its key. chosen: the sampling that took the place of its own.
bool mayRepeat(const GenerateRequest& request, const std::optional<ChosenSampling>& chosen);
ResponseKey responseKey(const GenerateRequest& request, std::vector<TokenId> prompt);

// The answer's figures where it is given again: no pass, no round, no rate; every token plain.
GenerationStats repeatedStats(const Response& response);

class ResponseCache {
 public:
  explicit ResponseCache(const ResponseCacheOptions& options = {}) : options_(options) {}

  // The answer to an equal request; null: there is none.
  std::shared_ptr<const Response> find(const ResponseKey& key);
  // Keeps an answer that ended by itself or at a limit; others, and those above the budget, are not kept.
  void insert(ResponseKey key, Response response, std::int64_t conversation);
  // What was written in this conversation goes.
  void dropConversation(std::int64_t conversation);
  void clear();

  std::size_t bytes() const;

 private:
  struct Entry {
    std::uint64_t hash;
    ResponseKey key;
    std::shared_ptr<const Response> response;
    std::int64_t conversation;
    std::size_t bytes;
  };
  using Place = std::list<Entry>::iterator;

  std::uint64_t hashOf(const ResponseKey& key) const;
  bool same(const ResponseKey& a, const ResponseKey& b) const;
  Place lookUp(const ResponseKey& key);
  void erase(Place place);

  const ResponseCacheOptions options_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;  // the one used last first
  std::unordered_multimap<std::uint64_t, Place> places_;
  std::size_t bytes_ = 0;
};

}  // namespace tandem::service
