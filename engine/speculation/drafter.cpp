#include "engine/speculation/drafter.h"

#include "engine/speculation/drafters/own_text.h"
#include "engine/speculation/drafters/wrong.h"

namespace tandem {

std::unique_ptr<Drafter> makeDrafter(DrafterKind kind, int vocabulary) {
  switch (kind) {
    case DrafterKind::kOff:
      return nullptr;
    case DrafterKind::kOwnText:
      return std::make_unique<OwnTextDrafter>();
    case DrafterKind::kWrong:
      return std::make_unique<WrongDrafter>(vocabulary);
  }
  return nullptr;
}

Result<DrafterKind> drafterByName(std::string_view name) {
  if (name == "off") return DrafterKind::kOff;
  if (name == "auto" || name == "own-text") return DrafterKind::kOwnText;
  if (name == "wrong") return DrafterKind::kWrong;
  return Error{ErrorCode::kInvalidArgument,
               "there is no drafter '" + std::string(name) + "'; choose off, auto, own-text or wrong",
               "spec"};
}

}  // namespace tandem
