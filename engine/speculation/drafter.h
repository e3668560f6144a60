// Drafters guess how a text goes on. The target verifies every guess, so a drafter can only cost time, never
// change the text. A drafter belongs to one request, is used by its thread, and sees its tokens in order;
// what it learns across requests lives in a SpeculationResources (engine/speculation/resources.h).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/speculation/draft.h"

namespace tandem {

// What a drafter may propose in one round.
struct DraftBudget {
  int nodes = 0;            // at most so many, up to kMaxDraftNodes
  int depth = 0;            // and so many below one another
  bool tree = false;        // false: a chain
  double least = 0;         // nodes that the target comes to with a lower probability are not worth it
  std::uint64_t index = 0;  // in the answer, of the first token that is proposed
};

class Drafter {
 public:
  virtual ~Drafter() = default;
  virtual TokenOrigin origin() const = 0;
  // Tokens became certain: the prompt at first, then what each round added.
  virtual void append(std::span<const TokenId> tokens) = 0;
  // Nodes that may follow what was appended, each with its probability and this drafter's origin; an empty
  // draft when it has no guess. The same text and budget give the same draft, whatever was proposed before,
  // but for what observe() has taught.
  virtual Draft propose(const DraftBudget& budget) = 0;
  // The target has spoken on what the last propose() gave: `followed` is what it wrote there, one token or
  // more. Called before append() gives these tokens.
  virtual void observe(std::span<const TokenId> followed) = 0;
  // Milliseconds that proposing a draft of such a budget takes, as measured; 0 when it was never tried.
  virtual double cost(const DraftBudget& budget) const = 0;
};

class Decoder;
struct Sequence;
struct SpeculationResources;

// The target of a request. Drafters that use the target itself look at it between its passes; it outlives
// them.
struct DraftTarget {
  int vocabulary = 0;
  Decoder* decoder = nullptr;          // null: there is only the text, as in a simulation
  const Sequence* sequence = nullptr;  // all but the last certain token
  // How the target chooses, for drafters that draw as it will; null: not known.
  const SamplingParams* sampling = nullptr;
};

// The drafters that `options` name, in that order, for an answer of which so many tokens are in the context
// already. What is named and not there is left out and told in `missing`, a sentence each; `automatic` takes
// what there is. REQUIRES: the resources outlive the drafters.
std::vector<std::unique_ptr<Drafter>> makeDrafters(const SpeculationOptions& options,
                                                   SpeculationResources& resources, const DraftTarget& target,
                                                   std::size_t answered, std::vector<std::string>& missing);

}  // namespace tandem
