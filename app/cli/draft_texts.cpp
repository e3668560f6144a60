#include "app/cli/draft_texts.h"

#include "app/cli/command.h"
#include "storage/draft_texts.h"

namespace tandem::cli {

OptionTable storeTable(StoreUse& use) {
  const Setter set = [&use](std::string_view name) -> Status {
    if (name != "on" && name != "read" && name != "off")
      return badArgument("must be on, read or off", "store");
    use = name == "on" ? StoreUse::kOn : name == "read" ? StoreUse::kRead : StoreUse::kOff;
    return {};
  };
  return {{"--store", 0, "USE", "earlier texts for drafting: on, read (nothing is added) or off", set}};
}

std::function<std::shared_ptr<TextStore>(const std::string& vocabulary)> draftTextsIn(const Places& places) {
  return [path = places.database().string()](const std::string& vocabulary) {
    return std::make_shared<storage::DraftTexts>(path, vocabulary);
  };
}

}  // namespace tandem::cli
