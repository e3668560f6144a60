#include "engine/constraint/byte_dfa_builder.h"

#include <algorithm>
#include <limits>

namespace tandem::constraint {
namespace {

constexpr int kNever = std::numeric_limits<int>::max();

bool anyIn(const std::bitset<256>& bytes, const ByteDfaBuilder::Edge& edge) {
  for (int b = edge.first; b <= edge.last; ++b) {
    if (bytes[static_cast<std::size_t>(b)]) return true;
  }
  return false;
}

}  // namespace

void ByteDfaBuilder::checkSize() const {
  if (rows_.size() >= kMaxByteStates)
    Budget::overrun("The regular expressions and lengths need too many states");
}

int ByteDfaBuilder::reserve(bool accepts) {
  checkSize();
  rows_.emplace_back();
  accepts_.push_back(accepts);
  return static_cast<int>(rows_.size()) - 1;
}

void ByteDfaBuilder::setRow(int state, Row row) {
  budget_.spend(row.size() + 1);
  rows_[static_cast<std::size_t>(state)] = std::move(row);
}

int ByteDfaBuilder::shared(Row row) {
  if (row.empty()) return ByteDfa::kDead;
  budget_.spend(row.size() + 1);
  const auto [at, isNew] = sharedRows_.try_emplace(std::move(row), 0);
  if (isNew) {
    at->second = reserve(false);
    rows_.back() = at->first;
  }
  return at->second;
}

// Breadth first, backwards from the accepting states.
std::vector<int> ByteDfaBuilder::distances(const ByteAlphabet& alphabet) {
  std::vector<std::vector<int>> from(rows_.size());
  std::vector<int> distance(rows_.size(), kNever), work;
  for (std::size_t state = 0; state < rows_.size(); ++state) {
    for (const Edge& edge : rows_[state]) {
      if (anyIn(alphabet.bytes, edge))
        from[static_cast<std::size_t>(edge.to)].push_back(static_cast<int>(state));
    }
    if (accepts_[state] != 0) {
      distance[state] = 0;
      work.push_back(static_cast<int>(state));
    }
    budget_.spend(rows_[state].size());
  }
  for (std::size_t i = 0; i < work.size(); ++i) {
    const int farther = distance[static_cast<std::size_t>(work[i])] + 1;
    for (const int state : from[static_cast<std::size_t>(work[i])]) {
      if (distance[static_cast<std::size_t>(state)] != kNever) continue;
      distance[static_cast<std::size_t>(state)] = farther;
      work.push_back(state);
    }
  }
  return distance;
}

ByteDfa ByteDfaBuilder::build(int start, const ByteAlphabet& alphabet, std::vector<int>* stateOf) {
  const std::vector<int> distance = distances(alphabet);
  ByteDfa dfa;
  std::vector<int> number(rows_.size(), ByteDfa::kDead);
  std::bitset<257> cuts;  // where a new class of bytes begins
  cuts.set(0);
  for (std::size_t state = 0; state < rows_.size(); ++state) {
    if (distance[state] == kNever) continue;
    number[state] = static_cast<int>(dfa.accepts.size());
    dfa.accepts.push_back(accepts_[state]);
    dfa.distance.push_back(distance[state]);
    dfa.farthest = std::max(dfa.farthest, distance[state]);
    for (const Edge& edge : rows_[state]) {
      cuts.set(edge.first);
      cuts.set(edge.last + std::size_t{1});
    }
  }
  int last = -1;
  for (std::size_t b = 0; b < 256; ++b) {
    if (cuts[b]) ++last;
    dfa.classOf[b] = static_cast<std::uint8_t>(last);
  }
  dfa.classes = last + 1;
  const auto classes = static_cast<std::size_t>(dfa.classes);
  budget_.spend(dfa.accepts.size() * classes);
  dfa.next.assign(dfa.accepts.size() * classes, ByteDfa::kDead);
  dfa.goesOn.assign(dfa.accepts.size(), 0);
  for (std::size_t state = 0; state < rows_.size(); ++state) {
    if (number[state] == ByteDfa::kDead) continue;
    for (const Edge& edge : rows_[state]) {
      const int to = number[static_cast<std::size_t>(edge.to)];
      if (to == ByteDfa::kDead) continue;
      dfa.goesOn[static_cast<std::size_t>(number[state])] = 1;
      for (std::size_t c = dfa.classOf[edge.first]; c <= dfa.classOf[edge.last]; ++c)
        dfa.next[static_cast<std::size_t>(number[state]) * classes + c] = to;
    }
  }
  dfa.start = number[static_cast<std::size_t>(start)];
  if (stateOf != nullptr) *stateOf = std::move(number);
  return dfa;
}

}  // namespace tandem::constraint
