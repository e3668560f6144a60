// What a text takes over from the caches of texts against reading it anew: the same tokens, the same bits of
// logits, the same bytes in the sequence.
#pragma once

#include <atomic>
#include <vector>

#include "engine/model/decoder.h"
#include "engine/verify/checks.h"

namespace tandem {

// Resumes a text of at least 30 tokens at, before and behind lines of the grid and ends of pages, and whole.
// Fails too when nothing was taken over.
Status checkResume(Decoder& decoder, const std::vector<TokenId>& text, const CacheFaults& faults,
                   const std::atomic<bool>* cancel, CheckResult& result);

// The same from files in a temporary folder, each time by caches that have just been opened.
Status checkDiskResume(Decoder& decoder, const std::vector<TokenId>& text, const OpenTextIndex& openIndex,
                       const DiskFaults& faults, const std::atomic<bool>* cancel, CheckResult& result);

}  // namespace tandem
