#include "engine/speculation/resources.h"

#include "engine/speculation/continuation.h"
#include "engine/speculation/drafters/model_drafter.h"

namespace tandem {

SpeculationResources::SpeculationResources()
    : ownText(lookupPriors()),
      storedText(lookupPriors()),
      draftModelTokens(ModelDrafter::priors()),
      predictedTokens(ModelDrafter::priors()) {}

}  // namespace tandem
