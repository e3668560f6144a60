// Kernels that count the layers a worker computes and can hold it in the middle of one, so that tests of
// cancelling need no clock: hold, cancel, let go, count what was computed afterwards.
#pragma once

#include "engine/kernels/kernel_set.h"

namespace tandem::test {

// The portable set with a gate in `gatedActivation`, which is called in each layer, with one thread once or
// more for some rows. One gate for the whole program; it starts open.
const kernels::KernelSet& gatedKernels();

namespace gate {

void close();          // the next call will wait
bool waitUntilHeld();  // a thread waits at the gate; false after a minute
void open();           // lets it go
long rows();           // calls since the program began

}  // namespace gate

}  // namespace tandem::test
