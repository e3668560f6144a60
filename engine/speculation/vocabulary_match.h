// Whether two models speak of the same tokens, and a name for a vocabulary.
#pragma once

#include <string>

#include "engine/base/status.h"
#include "engine/tokenizer/vocabulary.h"

namespace tandem {

// Ok when an id means the same in both: as many tokens, the same spellings and types, the same BOS, EOS and
// end tokens. Else kUnsupported, with the first difference as its sentence.
Status sameVocabulary(const Vocabulary& target, const Vocabulary& other);

// XXH3-64 of the spellings and types, hex: equal for files whose ids mean the same.
std::string vocabularyFingerprint(const Vocabulary& vocabulary);

}  // namespace tandem
