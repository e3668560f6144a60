#include "engine/speculation/drafter.h"

#include "engine/speculation/drafters/draft_model.h"
#include "engine/speculation/drafters/mtp.h"
#include "engine/speculation/drafters/on_purpose.h"
#include "engine/speculation/drafters/own_text.h"
#include "engine/speculation/drafters/store.h"
#include "engine/speculation/resources.h"

namespace tandem {
namespace {

// Null where what it draws from is not there.
std::unique_ptr<Drafter> makeDrafter(TokenOrigin origin, const SpeculationOptions& options,
                                     SpeculationResources& resources, const DraftTarget& target,
                                     std::size_t answered) {
  const int vocabulary = target.vocabulary;
  switch (origin) {
    case TokenOrigin::kOwnText:
      return std::make_unique<OwnTextDrafter>(resources.ownText);
    case TokenOrigin::kStore:
      if (!resources.store) return nullptr;
      return std::make_unique<StoreDrafter>(*resources.store, resources.storedText);
    case TokenOrigin::kDraftModel:
      if (!resources.draftModel) return nullptr;
      return std::make_unique<DraftModelDrafter>(*resources.draftModel, resources.draftModelTokens,
                                                 target.sampling);
    case TokenOrigin::kWrong:
      return std::make_unique<WrongDrafter>(vocabulary, options.seed);
    case TokenOrigin::kHalfRight:
      return std::make_unique<HalfRightDrafter>(vocabulary, options, answered);
    case TokenOrigin::kOracle:
      return std::make_unique<OracleDrafter>(vocabulary, options, answered);
    case TokenOrigin::kRandom:
      return std::make_unique<RandomDrafter>(vocabulary, options, answered);
    case TokenOrigin::kMtp:
      if (!target.decoder || !target.decoder->model().weights().nextn) return nullptr;
      return std::make_unique<MtpDrafter>(*target.decoder, *target.sequence, resources.predictedTokens,
                                          target.sampling);
    case TokenOrigin::kPlain:
      return nullptr;
  }
  return nullptr;
}

std::string missingSentence(TokenOrigin origin) {
  switch (origin) {
    case TokenOrigin::kStore:
      return "There is no store of earlier texts to draft from; decoding goes on without it.";
    case TokenOrigin::kDraftModel:
      return "There is no draft model; decoding goes on without it.";
    case TokenOrigin::kMtp:
      return "The model file has no multi-token-prediction block; decoding goes on without it.";
    default:
      return std::string("The model offers no drafter '") + tokenOriginName(origin) +
             "'; decoding goes on without it.";
  }
}

}  // namespace

std::vector<std::unique_ptr<Drafter>> makeDrafters(const SpeculationOptions& options,
                                                   SpeculationResources& resources, const DraftTarget& target,
                                                   std::size_t answered, std::vector<std::string>& missing) {
  std::vector<TokenOrigin> wanted = options.drafters;
  if (options.automatic)
    wanted = {TokenOrigin::kOwnText, TokenOrigin::kStore, TokenOrigin::kDraftModel, TokenOrigin::kMtp};
  std::vector<std::unique_ptr<Drafter>> drafters;
  for (const TokenOrigin origin : wanted) {
    if (auto drafter = makeDrafter(origin, options, resources, target, answered)) {
      drafters.push_back(std::move(drafter));
    } else if (!options.automatic) {
      missing.push_back(missingSentence(origin));
    }
  }
  return drafters;
}

}  // namespace tandem
