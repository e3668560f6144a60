// What the caches of texts hold, as it is told to a person, and what a person chooses of them
// (docs/caches.md).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "engine/base/status.h"
#include "engine/cache/prefix_cache.h"
#include "engine/verify/text_proof.h"

namespace tandem::service {

// A budget of the cache in memory that is chosen by what is free: an eighth of it, at most 1 GiB.
inline constexpr std::size_t kAutomaticBudget = std::numeric_limits<std::size_t>::max();

enum class CachePlace : std::uint8_t { kMemory, kDisk };

enum class TextState : std::uint8_t {
  kUsable,
  kPinned,       // stays whatever the budget
  kProven,       // every byte was compared with a cold read
  kProofFailed,  // and some differed: it is gone, and all that was cached with it
  kForeign,      // of another model, cache type or version: of use to those
  kUnusable,     // could not be used and is gone
};

// An entry of a cache: in memory the pages of a text or a mark in it, on disk a file.
struct CachedText {
  std::string key;  // by which proveText and dropText know it; another for every entry
  CachePlace place = CachePlace::kMemory;
  CacheTier tier = CacheTier::kPages;
  int start = 0;                 // of a file: tokens of the text before it
  int tokens = 0;                // of the text up to its end
  std::string words = {};        // the beginning of the text; empty: not known
  std::string fingerprint = {};  // of model and text, 32 hexadecimal digits; the same in memory and on disk
  std::uint64_t bytes = 0;
  std::uint64_t hits = 0;
  double ageSeconds = 0;          // since it was last used
  std::int64_t conversation = 0;  // that it was last used for; 0: none
  TextState state = TextState::kUsable;
  std::string reason = {};  // why it cannot be used
  TextProof proof = {};     // where it was proved
};

struct CacheListing {
  std::vector<CachedText> texts;
  std::uint64_t memoryBytes = 0, memoryBudget = 0;  // budget 0: there is no cache in memory
  std::uint64_t diskBytes = 0, diskBudget = 0;      // of all models
  bool diskEnabled = false;
  std::string diskTrouble = {};  // a sentence while nothing can be kept on disk; else empty
};
using CacheListingSink = std::function<void(CacheListing)>;

struct ProofProgressEvent {
  int done;
  int total;  // tokens that are read anew
};
// Errors: kCancelled; kNotFound (no such entry); kInvalidArgument (of another model); kCorruptFile (the file
// cannot be used: it is removed and listed); those of the engine.
using ProofEvent = std::variant<ProofProgressEvent, TextProof, Error>;
using ProofSink = std::function<void(ProofEvent)>;

// What a person chooses. All of it counts at once; `grid` and `endAnchor` for texts that are read from then
// on.
struct CacheSettings {
  std::size_t memoryBudget = kAutomaticBudget;        // bytes
  std::uint64_t diskBudget = std::uint64_t{4} << 30;  // bytes of all models' files
  bool disk = true;
  bool endAnchor = true;  // PrefixCacheOptions
  int grid = 1024;
};

}  // namespace tandem::service
