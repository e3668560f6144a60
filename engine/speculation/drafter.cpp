#include "engine/speculation/drafter.h"

#include "engine/speculation/drafters/own_text.h"
#include "engine/speculation/drafters/wrong.h"

namespace tandem {
namespace {

std::unique_ptr<Drafter> makeDrafter(TokenOrigin origin, int vocabulary) {
  switch (origin) {
    case TokenOrigin::kOwnText:
      return std::make_unique<OwnTextDrafter>();
    case TokenOrigin::kWrong:
      return std::make_unique<WrongDrafter>(vocabulary);
    case TokenOrigin::kPlain:
    case TokenOrigin::kStore:
    case TokenOrigin::kDraftModel:
    case TokenOrigin::kMtp:
    case TokenOrigin::kHalfRight:
    case TokenOrigin::kOracle:
    case TokenOrigin::kRandom:
      break;
  }
  return nullptr;
}

}  // namespace

std::vector<std::unique_ptr<Drafter>> makeDrafters(const SpeculationOptions& options, int vocabulary,
                                                   std::vector<std::string>& missing) {
  std::vector<TokenOrigin> wanted = options.drafters;
  if (options.automatic) wanted = {TokenOrigin::kOwnText};
  std::vector<std::unique_ptr<Drafter>> drafters;
  for (const TokenOrigin origin : wanted) {
    if (auto drafter = makeDrafter(origin, vocabulary)) {
      drafters.push_back(std::move(drafter));
    } else {
      missing.push_back(std::string("The drafter ") + tokenOriginName(origin) +
                        " is not there; decoding goes on without it.");
    }
  }
  return drafters;
}

}  // namespace tandem
