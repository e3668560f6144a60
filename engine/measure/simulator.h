// What speculation could gain on a text that is known: the drafter runs over the text as in the loop, and
// each round costs what the staircase says. Nothing is forwarded.
#pragma once

#include <span>

#include "engine/measure/staircase.h"
#include "engine/session/generation.h"
#include "engine/speculation/resources.h"

namespace tandem::measure {

// What a round costs, in ms, as measured.
struct RoundPrices {
  Staircase verify = {};  // the pass, by its rows
  double commit = 0;      // choosing and committing, for each token
  double plain = 0;       // a round of plain decoding, where one follows another
};

struct Simulation {
  SpeculationOptions speculation = {};  // what was simulated
  int rounds = 0, drafted = 0, accepted = 0;
  double plainMs = 0;  // the same text one token at a time
  double ms = 0;       // rounds by their prices, and drafting as it took here

  double gain() const { return ms > 0 ? plainMs / ms : 0; }
};

// Walks `answer` behind `prompt`. The first
// token comes from the prefill and is not counted. `resources` gives the stores and the draft model that the
// speculation asks for. REQUIRES: a chain or a tree as the shape, of fewer nodes than the staircase has rows;
// checkSpeculation() is ok.
Simulation simulate(std::span<const TokenId> prompt, std::span<const TokenId> answer,
                    const SpeculationOptions& speculation, SpeculationResources& resources, int vocabulary,
                    const RoundPrices& prices);

}  // namespace tandem::measure
