#include "engine/speculation/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace tandem {
namespace {

// The drafter of that name; plain decoding is none.
std::optional<TokenOrigin> drafterByName(std::string_view name) {
  for (int i = 1; i < kTokenOriginCount; ++i) {
    if (name == tokenOriginName(static_cast<TokenOrigin>(i))) return static_cast<TokenOrigin>(i);
  }
  return std::nullopt;
}

Error noDrafter(std::string_view name) {
  std::string known;
  for (int i = 1; i < kTokenOriginCount; ++i)
    known += std::string(", ") + tokenOriginName(static_cast<TokenOrigin>(i));
  return {ErrorCode::kInvalidArgument,
          "there is no drafter '" + std::string(name) + "'; choose off, auto or a list of" + known.substr(1),
          "spec"};
}

// The number behind `prefix`, or 0.
int numberAfter(std::string_view prefix, std::string_view name) {
  if (!name.starts_with(prefix)) return 0;
  const std::string_view digits = name.substr(prefix.size());
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() ? number : 0;
}

bool validNodes(int nodes) {
  return nodes >= 1 && nodes <= kMaxDraftNodes;
}

}  // namespace

Status setDrafters(std::string_view names, SpeculationOptions& options) {
  std::vector<TokenOrigin> drafters;
  if (names != "off" && names != "auto") {
    for (std::string_view rest = names;;) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      const std::optional<TokenOrigin> drafter = drafterByName(rest.substr(0, comma));
      if (!drafter) return noDrafter(rest.substr(0, comma));
      if (std::find(drafters.begin(), drafters.end(), *drafter) == drafters.end())
        drafters.push_back(*drafter);
      if (comma == rest.size()) break;
      rest.remove_prefix(comma + 1);
    }
  }
  options.automatic = names == "auto";
  options.drafters = std::move(drafters);
  return {};
}

std::string drafterNames(const SpeculationOptions& options) {
  if (options.automatic) return "auto";
  if (options.drafters.empty()) return "off";
  std::string names;
  for (const TokenOrigin drafter : options.drafters)
    names += std::string(names.empty() ? "" : ",") + tokenOriginName(drafter);
  return names;
}

Result<DraftShape> draftShapeByName(std::string_view name) {
  if (name == "auto") return DraftShape();
  for (const DraftShape shape : {DraftShape{DraftShape::Kind::kChain, numberAfter("chain", name)},
                                 DraftShape{DraftShape::Kind::kTree, numberAfter("tree", name)}}) {
    if (validNodes(shape.nodes)) return shape;
  }
  const std::string most = std::to_string(kMaxDraftNodes);
  return Error{ErrorCode::kInvalidArgument,
               "must be auto, chain1 to chain" + most + ", or tree1 to tree" + most, "shape"};
}

std::string draftShapeName(const DraftShape& shape) {
  switch (shape.kind) {
    case DraftShape::Kind::kAuto:
      break;
    case DraftShape::Kind::kChain:
      return "chain" + std::to_string(shape.nodes);
    case DraftShape::Kind::kTree:
      return "tree" + std::to_string(shape.nodes);
  }
  return "auto";
}

Status checkSpeculation(const SpeculationOptions& options) {
  if (!validNodes(options.shape.nodes)) {
    return Error{ErrorCode::kInvalidArgument, "a draft must have between 1 and 31 nodes", "shape"};
  }
  const auto has = [&](TokenOrigin drafter) {
    return std::find(options.drafters.begin(), options.drafters.end(), drafter) != options.drafters.end();
  };
  if (has(TokenOrigin::kPlain)) {
    return Error{ErrorCode::kInvalidArgument, "plain decoding is no drafter", "spec"};
  }
  if (options.reference.empty() && (has(TokenOrigin::kOracle) || has(TokenOrigin::kHalfRight))) {
    return Error{ErrorCode::kInvalidArgument,
                 "the drafters oracle and half-right need the answer's tokens as their reference",
                 "reference"};
  }
  if (!std::isfinite(options.relaxTau) || options.relaxTau < 0) {
    return Error{ErrorCode::kInvalidArgument, "relax_tau must be a number of 0 or more", "relax_tau"};
  }
  if (options.relaxRank < 0) {
    return Error{ErrorCode::kInvalidArgument, "relax_rank must be 0 or more", "relax_rank"};
  }
  return {};
}

}  // namespace tandem
