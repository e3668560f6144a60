// Earlier texts as a source of drafts: the option that says how they are used, and where they are.
#pragma once

#include "app/cli/options.h"
#include "app/places/places.h"
#include "app/service/loaded_engine.h"

namespace tandem::cli {

enum class StoreUse { kOff, kRead, kOn };  // not looked in; looked in; ended answers are added too

OptionTable storeTable(StoreUse& use);  // --store

// What EngineOptions::openStore takes.
std::function<std::shared_ptr<TextStore>(const std::string& vocabulary)> draftTextsIn(const Places& places);

}  // namespace tandem::cli
