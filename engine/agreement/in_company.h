// A subject of the gate that is never alone: while its request runs, others run on the same decoder.
#pragma once

#include "engine/agreement/agreement.h"
#include "engine/speculation/resources.h"

namespace tandem::agreement {

// Runs each request in one of its cell's `parallel` slots. The other slots always have a request too: parts
// of its own prompt, answered plainly or with wrong guesses in trees of any shape, greedily or with a penalty
// and a seed of their own; one that ends is followed by another. The gate's own passes must run on another
// decoder. REQUIRES: decoder and resources outlive the subject.
Subject inCompany(Decoder& decoder, SpeculationResources& resources, const std::atomic<bool>* cancel);

}  // namespace tandem::agreement
