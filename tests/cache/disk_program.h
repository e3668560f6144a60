// A program with the cache on disk but without a model, for tests: texts are kept and come back, and every
// byte of them is looked at.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/cache/disk_cache.h"
#include "storage/text_index.h"
#include "tests/cache/text_files.h"

namespace tandem::test {

inline constexpr int kSmallVocabulary = 20;
inline constexpr std::size_t kRoomyCache = std::size_t{1} << 30;

// A program's two caches on a folder.
struct Program {
  explicit Program(const std::string& folder, bool withState = false, DiskCacheOptions options = {},
                   const char* fingerprint = kFingerprint)
      : stateful(withState), memory(smallEmpty(withState), {.budget = kRoomyCache}) {
    options.folder.path = folder;
    if (!options.folder.openIndex)
      options.folder.openIndex = [](const std::string& path) { return storage::CacheIndex::open(path); };
    if (options.settle == DiskCacheOptions().settle) options.settle = std::chrono::milliseconds(0);
    options.retry = std::chrono::milliseconds(20);
    disk =
        std::make_unique<DiskCache>(std::move(options), fingerprint, smallEmpty(stateful), kSmallVocabulary);
  }

  // A request left this text; states at every 256 positions and at its end.
  void keep(const std::vector<TokenId>& text, std::int64_t conversation = 1,
            std::uint64_t room = kRoomyCache) {
    std::vector<CacheMark> marks;
    if (stateful) {
      for (std::size_t at = 256; at < text.size(); at += 256)
        marks.push_back(markFor(std::span(text).first(at), CacheTier::kGrid, false));
      marks.push_back(markFor(text, CacheTier::kPromptEnd, true));
    }
    disk->keep(text, sequenceFor(text), marks, conversation, room);
  }

  // Tokens of the text that come back from the disk, after their bytes were looked at; -1: wrong ones.
  int restored(const std::vector<TokenId>& text, std::int64_t conversation = 1) {
    PrefixCache fresh(smallEmpty(stateful), {.budget = kRoomyCache});
    if (!disk->restore(fresh, text, {smallEmpty(stateful)}, conversation)) return 0;
    const CacheHit hit = fresh.find(text);
    const int length = hit.sequence.length();
    const auto known = std::span(text).first(static_cast<std::size_t>(length));
    Sequence expected = sequenceFor(known);
    if (stateful) {
      const CacheMark mark = markFor(known, CacheTier::kGrid, true);
      expected.recurrent = mark.recurrent;
      expected.hidden = mark.hidden;
      if (hit.logits && *hit.logits != *mark.logits) return -1;
    }
    return expected.sameBytes(hit.sequence) ? length : -1;
  }

  const bool stateful;
  PrefixCache memory;
  std::unique_ptr<DiskCache> disk;
};

inline std::vector<std::filesystem::path> filesIn(const std::string& folder,
                                                  std::string_view ending = ".text") {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().string().ends_with(ending)) files.push_back(entry.path());
  }
  return files;
}

}  // namespace tandem::test
