// Drafters guess how a text goes on. The target verifies every guess, so a drafter can only cost time, never
// change the text. A drafter belongs to one request and sees its tokens in order.
#pragma once

#include <memory>
#include <span>

#include "engine/base/status.h"
#include "engine/speculation/draft.h"

namespace tandem {

class Drafter {
 public:
  virtual ~Drafter() = default;
  // Tokens became certain: the prompt at first, then what each round added.
  virtual void append(std::span<const TokenId> tokens) = 0;
  // Up to `width` tokens that may follow what was appended; an empty draft when it has no guess.
  virtual Draft propose(int width) = 0;
};

// Null for kOff. `vocabulary` bounds the ids that may be proposed.
std::unique_ptr<Drafter> makeDrafter(DrafterKind kind, int vocabulary);

// "off", "auto" (own-text), "own-text", "wrong". Error: kInvalidArgument, listing them.
Result<DrafterKind> drafterByName(std::string_view name);

}  // namespace tandem
