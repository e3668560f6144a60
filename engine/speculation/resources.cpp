#include "engine/speculation/resources.h"

#include "engine/speculation/continuation.h"
#include "engine/speculation/drafters/draft_model.h"

namespace tandem {

SpeculationResources::SpeculationResources()
    : ownText(lookupPriors()), storedText(lookupPriors()), draftModelTokens(DraftModelDrafter::priors()) {}

}  // namespace tandem
