// Joins what several drafters propose into one draft, and cuts it to what is worth verifying. Pure functions.
#pragma once

#include <span>

#include "engine/speculation/drafter.h"

namespace tandem {

// One tree with the nodes of all drafts. A path that several propose is there once; each of its nodes keeps
// the highest probability and that drafter's origin. Siblings whose probabilities sum to more than 1 are
// scaled to 1. The result may have more than kMaxDraftNodes nodes; the best sibling comes first.
Draft unite(std::span<const Draft> drafts);

// The nodes of `whole` that the target comes to most probably, at most budget.nodes and as deep as
// budget.depth, none below budget.least; as one chain where the budget says so. In depth-first order.
Draft best(const Draft& whole, const DraftBudget& budget);

}  // namespace tandem
