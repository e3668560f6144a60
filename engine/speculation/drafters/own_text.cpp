#include "engine/speculation/drafters/own_text.h"

namespace tandem {

Draft OwnTextDrafter::propose(const DraftBudget& budget) {
  return tree_.build(index_.findOwn(budget.nodes, budget.tree ? kPlaces : 1), budget, origin(), calibration_);
}

}  // namespace tandem
