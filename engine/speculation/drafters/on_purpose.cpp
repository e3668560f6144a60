#include "engine/speculation/drafters/on_purpose.h"

#include <algorithm>

namespace tandem {

std::uint64_t TestRandom::next() {
  std::uint64_t x = state_ += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

void OnPurposeDrafter::append(std::span<const TokenId> tokens) {
  for (const TokenId token : tokens)
    state_ = (state_ ^ static_cast<std::uint32_t>(token)) * 0x100000001B3u + 1;
}

TokenId OnPurposeDrafter::otherToken(TestRandom& random, const Draft& draft, int parent,
                                     TokenId butNot) const {
  for (int tries = 0; tries < 64; ++tries) {
    const TokenId token = random.below(vocabulary_);
    if (token != butNot && childWith(draft, parent, token) < 0) return token;
  }
  return -1;
}

Draft WrongDrafter::propose(const DraftBudget& budget) {
  Draft draft;
  TestRandom random = this->random();
  // In a tree every node of a chain gets a leaf beside it.
  int parent = -1, depth = 0;
  while (draft.size() < budget.nodes && depth < budget.depth) {
    if (budget.tree && draft.size() + 1 < budget.nodes) {
      if (const TokenId leaf = otherToken(random, draft, parent, -1); leaf >= 0)
        draft.add(leaf, parent, 0.4f, origin());
    }
    const TokenId token = otherToken(random, draft, parent, -1);
    if (token < 0) break;
    parent = draft.add(token, parent, 0.5f, origin());
    ++depth;
  }
  return draft;
}

void ReferenceDrafter::append(std::span<const TokenId> tokens) {
  OnPurposeDrafter::append(tokens);
  if (begun_) next_ += tokens.size();  // the first ones are the prompt and the answer so far
  begun_ = true;
}

Draft OracleDrafter::propose(const DraftBudget& budget) {
  Draft draft;
  TestRandom random = this->random();
  int parent = -1;
  for (int depth = 0; depth < budget.depth && draft.size() < budget.nodes; ++depth) {
    const TokenId right = known(depth);
    if (right < 0) break;
    if (budget.tree) {
      for (int wrong = random.below(3); wrong > 0 && draft.size() + 1 < budget.nodes; --wrong) {
        if (const TokenId token = otherToken(random, draft, parent, right); token >= 0)
          draft.add(token, parent, 0.02f, origin());
      }
    }
    parent = draft.add(right, parent, 0.95f, origin());
  }
  return draft;
}

Draft HalfRightDrafter::propose(const DraftBudget& budget) {
  Draft draft;
  TestRandom random = this->random();
  int parent = -1;
  for (int depth = 0; depth < budget.depth && draft.size() < budget.nodes; ++depth) {
    const TokenId right = known(depth);
    if (right < 0) break;
    const bool isRight = TestRandom(seed_ + next_ + depth).below(2) == 0;
    if (isRight) {
      parent = draft.add(right, parent, 0.5f, origin());
      continue;
    }
    // Below a wrong token the path is wrong whatever follows; in a tree the right one may go on beside it.
    const TokenId wrong = otherToken(random, draft, parent, right);
    if (wrong < 0) break;
    const int added = draft.add(wrong, parent, 0.5f, origin());
    const bool beside = budget.tree && random.below(2) == 0 && draft.size() < budget.nodes;
    parent = beside ? draft.add(right, parent, 0.4f, origin()) : added;
  }
  return draft;
}

Draft RandomDrafter::propose(const DraftBudget& budget) {
  struct Open {
    int node;
    bool right;  // all above it is right
  };
  Draft draft;
  TestRandom random = this->random();
  const int nodes = 1 + random.below(budget.nodes);
  // Depth-first: the next node hangs below the last one or below one of its ancestors.
  std::vector<Open> path = {{-1, true}};
  while (draft.size() < nodes) {
    int up = budget.tree && random.below(3) == 0 ? random.below(static_cast<int>(path.size())) : 0;
    if (static_cast<int>(path.size()) > budget.depth) up = std::max(up, 1);
    if (up > 0 && !budget.tree) break;
    path.resize(path.size() - up);
    const auto [parent, right] = path.back();
    const TokenId expected = right ? known(path.size() - 1) : -1;
    const bool isRight = expected >= 0 && random.below(2) == 0 && childWith(draft, parent, expected) < 0;
    const TokenId token = isRight ? expected : otherToken(random, draft, parent, expected);
    if (token < 0) break;
    const float probability = static_cast<float>(random.below(100)) / 100.0f;
    path.push_back({draft.add(token, parent, probability, origin()), isRight});
  }
  return draft;
}

}  // namespace tandem
