#include "engine/speculation/suffix_index.h"

#include <algorithm>

namespace tandem {
namespace {

constexpr int kMostLooked = 32;  // places of one order

}  // namespace

// Hashes of the last 2 … 8 tokens, and how many of them there are. Equal hashes are compared token by token
// before use.
int SuffixIndex::hashesOf(std::span<const TokenId> end, Hashes& hashes) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  int orders = 0;
  for (int n = 1; n <= std::min<int>(kLongest, static_cast<int>(end.size())); ++n) {
    const TokenId token = end[end.size() - n];
    if (token == kBreak) break;
    hash = (hash ^ static_cast<std::uint32_t>(token)) * 0x100000001B3u;
    hash ^= hash >> 29;
    if (n >= kShortest) hashes[orders++] = hash;
  }
  return orders;
}

void SuffixIndex::append(std::span<const TokenId> tokens) {
  for (const TokenId token : tokens) {
    // The suffixes that end here get a successor now.
    const int place = size();
    std::array<int, kOrders> before;
    before.fill(-1);
    Hashes hashes;
    const int orders = token == kBreak ? 0 : hashesOf(text_, hashes);
    for (int i = 0; i < orders; ++i) {
      const auto [entry, isNew] = latest_[i].try_emplace(hashes[i], place);
      if (!isNew) before[i] = std::exchange(entry->second, place);
    }
    earlier_.push_back(before);
    text_.push_back(token);
  }
}

int SuffixIndex::matchAt(int place, std::span<const TokenId> context) const {
  const int most = std::min({place, static_cast<int>(context.size()), kMatchMost});
  int n = 0;
  while (n < most && text_[place - 1 - n] != kBreak &&
         text_[place - 1 - n] == context[context.size() - 1 - n])
    ++n;
  return n;
}

Continuation SuffixIndex::continuationAt(int place, int match, int length, bool ownEnd) const {
  Continuation found{{}, match};
  for (int i = place; static_cast<int>(found.tokens.size()) < length; ++i) {
    if (i >= size() && !ownEnd) break;
    const TokenId token = i < size() ? text_[i] : found.tokens[i - size()];
    if (token == kBreak) break;
    found.tokens.push_back(token);
  }
  return found;
}

std::vector<Continuation> SuffixIndex::find(std::span<const TokenId> context, int length, int most,
                                            bool ownEnd) const {
  struct Place {
    int at, match;
  };
  std::vector<Place> places;
  Hashes hashes;
  const int orders = hashesOf(context, hashes);
  for (int i = orders - 1; i >= 0 && static_cast<int>(places.size()) < most; --i) {
    const auto found = latest_[i].find(hashes[i]);
    int place = found == latest_[i].end() ? -1 : found->second;
    for (int looked = 0; place >= 0 && looked < kMostLooked; ++looked, place = earlier_[place][i]) {
      const int match = matchAt(place, context);
      const bool known =
          std::any_of(places.begin(), places.end(), [place](const Place& p) { return p.at == place; });
      if (match >= i + kShortest && !known) places.push_back({place, match});
    }
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return a.match != b.match ? a.match > b.match : a.at > b.at;
  });
  if (static_cast<int>(places.size()) > most) places.resize(most);
  std::vector<Continuation> result;
  for (const Place& place : places)
    result.push_back(continuationAt(place.at, place.match, length, ownEnd));
  return result;
}

}  // namespace tandem
