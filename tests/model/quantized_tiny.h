// A tiny model whose matrices are quantised, every format in turn, so that tests of the quantised
// arithmetic need no real model.
#pragma once

#include <string>

#include "engine/base/status.h"

namespace tandem::test {

// Takes metadata and norms from the tiny model at `tinyPath` (tiny_models.h) and fills its matrices with
// random blocks of Q4_1, Q5_0, Q8_0, Q4_K and Q6_K.
Status writeQuantizedTiny(const std::string& tinyPath, const std::string& outPath);

}  // namespace tandem::test
