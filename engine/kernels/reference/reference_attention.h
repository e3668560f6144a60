// The scalar truth of attention (docs/arithmetic.md, 3).
#pragma once

#include "engine/kernels/kernel_set.h"

namespace tandem::kernels {

// The fold of eight lanes.
inline float fold(const float (&l)[8]) {
  return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]));
}

namespace reference {

void attendF16(const AttentionJob& job);
void attendF32(const AttentionJob& job);
void attendVq8(const AttentionJob& job);
void attendQ8(const AttentionJob& job);
void joinTiles(const AttentionJob& job);

}  // namespace reference
}  // namespace tandem::kernels
