// Which kernel sets the tests of this folder compare with the reference. Each test is linked with one answer:
// available_sets.cpp, or one of simde/.
#pragma once

#include <vector>

#include "engine/kernels/kernel_set.h"

namespace tandem::test {

// Empty when this CPU can run none of them.
std::vector<const kernels::KernelSet*> kernelSetsUnderTest();

// Of the long lists of shapes every so-manieth is compared: 1 means all. Emulated sets are slow; a test that
// uses this says what its lists still cover.
int stepOfShapes();

}  // namespace tandem::test
