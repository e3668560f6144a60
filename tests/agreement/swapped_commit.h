// A loop that is right in everything but its commit: now and then it keeps the keys and values of a rejected
// row in the place of an accepted one. What the gate must catch.
#pragma once

#include "engine/agreement/agreement.h"

namespace tandem::test {

// Drafts the reference's next token and a wrong sibling each round. `fault`: whether the wrong row is kept in
// the fifth round; without it the loop is exact.
agreement::Subject swappedCommit(Decoder& decoder, bool fault);

}  // namespace tandem::test
