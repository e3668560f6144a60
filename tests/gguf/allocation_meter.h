// Counts what a test program asks of operator new, so that a test can bound the memory a call takes. Linking
// allocation_meter.cpp replaces the global operators of the program.
#pragma once

#include <cstdint>

namespace tandem::test {

// Starts a measurement: the peak is from now on counted above what is allocated now.
void startAllocationMeter();

// The most bytes that were allocated at one moment since the start, above what there was then.
std::int64_t allocationPeak();

}  // namespace tandem::test
