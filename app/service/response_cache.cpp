#include "app/service/response_cache.h"

#include <xxhash.h>

#include <utility>

namespace tandem::service {
namespace {

std::size_t bytesOf(const ResponseKey& key) {
  std::size_t bytes = sizeof key + key.prompt.size() * sizeof(TokenId) + key.constraint.text.size();
  bytes += key.sampling.logitBias.size() * sizeof(TokenBias) + key.stopTokens.size() * sizeof(TokenId);
  for (const auto* texts : {&key.stop, &key.constraint.choices}) {
    for (const std::string& text : *texts)
      bytes += sizeof text + text.size();
  }
  return bytes;
}

std::size_t bytesOf(const Response& response) {
  std::size_t bytes = sizeof response;
  for (const TextPiece& piece : response.pieces) {
    bytes += sizeof piece + piece.text.size() + piece.tokens.size() * sizeof(PieceToken);
    for (const ChosenLogprobs& one : piece.logprobs)
      bytes += sizeof one + one.top.size() * sizeof(TokenLogprob);
  }
  return bytes;
}

}  // namespace

std::vector<TokenId> Response::tokens() const {
  std::vector<TokenId> ids;
  for (const TextPiece& piece : pieces) {
    for (const PieceToken& token : piece.tokens)
      ids.push_back(token.id);
  }
  return ids;
}

bool mayRepeat(const GenerateRequest& request, const std::optional<ChosenSampling>& chosen) {
  return request.fromResponses && request.cached && request.sampling.greedy() && !chosen &&
         request.answerSoFar.empty() && !request.speculation.relaxed();
}

ResponseKey responseKey(const GenerateRequest& request, std::vector<TokenId> prompt) {
  return {.prompt = std::move(prompt),
          .sampling = request.sampling,
          .maxTokens = request.maxTokens,
          .stop = request.stop,
          .stopTokens = request.stopTokens,
          .minTokens = request.minTokens,
          .reasoning = request.reasoning,
          .constraint = request.constraint,
          .fingerprint = request.fingerprint};
}

GenerationStats repeatedStats(const Response& response) {
  const GenerationStats& first = response.stats;
  GenerationStats stats;
  stats.fromResponse = true;
  stats.promptTokens = stats.cachedTokens = first.promptTokens;
  stats.completionTokens = first.completionTokens;
  stats.acceptedBy[static_cast<int>(TokenOrigin::kPlain)] = first.completionTokens;
  stats.finish = first.finish;
  stats.seed = first.seed;
  stats.logitsFingerprint = first.logitsFingerprint;
  return stats;
}

std::shared_ptr<const Response> ResponseCache::find(const ResponseKey& key) {
  const std::lock_guard lock(mutex_);
  const Place found = lookUp(key);
  if (found == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found);
  return found->response;
}

void ResponseCache::insert(ResponseKey key, Response response, std::int64_t conversation) {
  const FinishReason finish = response.stats.finish;
  if (finish == FinishReason::kCancelled || finish == FinishReason::kFailed) return;
  for (TextPiece& piece : response.pieces) {
    for (PieceToken& token : piece.tokens)
      token.origin = TokenOrigin::kPlain;
  }
  const std::size_t bytes = sizeof(Entry) + bytesOf(key) + bytesOf(response);
  const std::lock_guard lock(mutex_);
  if (bytes > options_.budget || lookUp(key) != entries_.end()) return;
  while (bytes_ + bytes > options_.budget)
    erase(std::prev(entries_.end()));
  const std::uint64_t hash = hashOf(key);
  entries_.push_front(
      {hash, std::move(key), std::make_shared<const Response>(std::move(response)), conversation, bytes});
  places_.emplace(hash, entries_.begin());
  bytes_ += bytes;
}

void ResponseCache::dropConversation(std::int64_t conversation) {
  const std::lock_guard lock(mutex_);
  for (Place place = entries_.begin(); place != entries_.end();) {
    const Place here = place++;
    if (here->conversation == conversation) erase(here);
  }
}

void ResponseCache::clear() {
  const std::lock_guard lock(mutex_);
  places_.clear();
  entries_.clear();
  bytes_ = 0;
}

std::size_t ResponseCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

std::uint64_t ResponseCache::hashOf(const ResponseKey& key) const {
  if (options_.faults.oneHash) return 0;
  return XXH3_64bits(key.prompt.data(), key.prompt.size() * sizeof(TokenId));
}

bool ResponseCache::same(const ResponseKey& a, const ResponseKey& b) const {
  if (options_.faults.trustHash) return true;
  return options_.faults.ignoreOptions ? a.prompt == b.prompt : a == b;
}

ResponseCache::Place ResponseCache::lookUp(const ResponseKey& key) {
  const auto [first, last] = places_.equal_range(hashOf(key));
  for (auto one = first; one != last; ++one) {
    if (same(one->second->key, key)) return one->second;
  }
  return entries_.end();
}

void ResponseCache::erase(Place place) {
  const auto [first, last] = places_.equal_range(place->hash);
  for (auto one = first; one != last; ++one) {
    if (one->second != place) continue;
    places_.erase(one);
    break;
  }
  bytes_ -= place->bytes;
  entries_.erase(place);
}

}  // namespace tandem::service
