// A few of all combinations of what a cell is made of.
#pragma once

#include <vector>

#include "engine/agreement/agreement.h"

namespace tandem::agreement {

// Those of the cells that it takes to have every two values of two dimensions together in one of them, where
// any of the given cells has them together. The dimensions are drafter, shape, options, whether it is
// sampled, and the number of requests at once. Each cell taken has more pairs that are new than any other; of
// equal ones the first. The order stays.
std::vector<Cell> pairwiseCover(const std::vector<Cell>& cells);

}  // namespace tandem::agreement
