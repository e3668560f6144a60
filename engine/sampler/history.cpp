#include "engine/sampler/history.h"

#include <algorithm>
#include <cassert>

namespace tandem {
namespace {

std::uint64_t hashOf(std::span<const TokenId> tokens) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const TokenId token : tokens)
    hash = (hash ^ static_cast<std::uint32_t>(token)) * 0x100000001B3u;
  return hash;
}

}  // namespace

void ChoiceHistory::begin(std::span<const TokenId> prompt) {
  assert(tokens_.empty());
  prompt_ = prompt.size();
  for (const TokenId token : prompt)
    append(token);
}

void ChoiceHistory::push(TokenId token) {
  append(token);
}

void ChoiceHistory::append(TokenId token) {
  const std::size_t place = tokens_.size();
  tokens_.push_back(token);
  count(place, 1);
  if (window_ > 0 && place >= static_cast<std::size_t>(window_)) count(place - window_, -1);
  if (ngram_ > 0 && place + 1 >= static_cast<std::size_t>(ngram_))
    places_[hashOf(before(place))].push_back(place);
}

void ChoiceHistory::pop() {
  assert(tokens_.size() > prompt_);
  const std::size_t place = tokens_.size() - 1;
  if (ngram_ > 0 && place + 1 >= static_cast<std::size_t>(ngram_)) places_[hashOf(before(place))].pop_back();
  if (window_ > 0 && place >= static_cast<std::size_t>(window_)) count(place - window_, 1);
  count(place, -1);
  tokens_.pop_back();
}

void ChoiceHistory::count(std::size_t place, int change) {
  const auto at = counts_.try_emplace(tokens_[place]).first;
  at->second.all += change;
  if (place >= prompt_) at->second.answer += change;
  if (at->second.all == 0) counts_.erase(at);
}

// The ngram - 1 tokens before a place.
std::span<const TokenId> ChoiceHistory::before(std::size_t place) const {
  const std::size_t size = static_cast<std::size_t>(ngram_) - 1;
  return std::span(tokens_).subspan(place - size, size);
}

std::vector<TokenId> ChoiceHistory::followers() const {
  std::vector<TokenId> found;
  const std::size_t place = tokens_.size();
  if (ngram_ == 0 || place + 1 < static_cast<std::size_t>(ngram_)) return found;
  const std::span<const TokenId> last = before(place);
  const auto same = places_.find(hashOf(last));
  if (same == places_.end()) return found;
  for (const std::size_t earlier : same->second) {
    if (std::ranges::equal(before(earlier), last)) found.push_back(tokens_[earlier]);
  }
  return found;
}

}  // namespace tandem
