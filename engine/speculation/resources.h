// What outlives a request: the other places that drafters draw from, and all that was learnt about this model
// on this machine. Owned by the Generator; belongs to the thread that generates.
#pragma once

#include "engine/speculation/calibration.h"
#include "engine/speculation/draft_model.h"
#include "engine/speculation/text_store.h"
#include "engine/speculation/verify_cost.h"

namespace tandem {

struct SpeculationResources {
  SpeculationResources();

  std::shared_ptr<TextStore> store;        // earlier texts; null: none
  std::unique_ptr<DraftModel> draftModel;  // null: none

  VerifyCost verifyCost;
  double commitMs = 0.05;  // per committed token: choosing it, and its rows; an average of the last rounds
  Calibration ownText, storedText, draftModelTokens, predictedTokens;
  // How often a token of a drafter whose guesses take time is right, given that those before it were: what is
  // expected of it before it is asked.
  double draftModelRight = 0.6;
};

}  // namespace tandem
