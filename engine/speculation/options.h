// SpeculationOptions as words: what --spec and --shape take, and what is stored with a conversation.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/status.h"
#include "engine/session/generation.h"

namespace tandem {

// Sets `automatic` and `drafters`: "off", "auto", or names of drafters separated by commas ("own-text,store";
// the names are tokenOriginName's). Leaves the rest as it is. Error: kInvalidArgument, listing the names.
Status setDrafters(std::string_view names, SpeculationOptions& options);
std::string drafterNames(const SpeculationOptions& options);

// "auto", "chain1" to "chain31", "tree1" to "tree31". Error: kInvalidArgument.
Result<DraftShape> draftShapeByName(std::string_view name);
std::string draftShapeName(const DraftShape& shape);

// Refuses what cannot be: a node count out of its range, kOracle or kHalfRight without a reference, a relaxed
// accept that is no number. kInvalidArgument with the field.
Status checkSpeculation(const SpeculationOptions& options);

}  // namespace tandem
