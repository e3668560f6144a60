// Kernel sets with a planted fault: what must be caught, one fault for each rule of the arithmetic contract
// that a kernel can break.
#pragma once

#include <vector>

#include "engine/kernels/kernel_set.h"

namespace tandem::test {

struct Fault {
  const char* name;
  const char* rule;            // of docs/arithmetic.md
  kernels::KernelSet kernels;  // the base set with one function exchanged
};

// Every fault planted into `base`. `vocabulary` tells the output head by its number of columns.
// REQUIRES: one call's result is used at a time (the faulty functions know their base by a global).
std::vector<Fault> plantFaults(const kernels::KernelSet& base, int vocabulary);

// Faults in quantised caches, of the types vq8 and q8. REQUIRES: as above.
std::vector<Fault> plantCacheFaults(const kernels::KernelSet& base);

}  // namespace tandem::test
