// Lists the caches and lets entries go, on a thread of its own: it may wait for the disk, and neither who
// asks nor the worker waits for it. Remembers what was proved. Any thread may call; sinks are called on the
// event thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/service/cache_listing.h"
#include "app/service/event_thread.h"
#include "app/service/response_cache.h"
#include "engine/cache/disk_cache.h"
#include "engine/model/decoder.h"

namespace tandem::service {

// The caches of a loaded model.
struct DeskCache {
  std::shared_ptr<const Model> model;
  std::shared_ptr<PrefixCache> cache;  // null: none
  std::shared_ptr<ResponseCache> responses = {};
  TextFileKey key = {};    // of its decoder
  std::uint64_t load = 0;  // set by CacheDesk::use
};

// An entry to be proved.
struct ProofSource {
  std::optional<TextProver> prover;
  CachedText text;
  TextRowPtr row;  // of a file
};

class CacheDesk {
 public:
  // folder: of the cache on disk; without a path there is none. REQUIRES: the event thread outlives this.
  CacheDesk(EventThread& events, TextFolderOptions folder) : events_(events), folder_(std::move(folder)) {}

  // This is the cache from now on.
  void use(DeskCache cache);
  void set(const CacheSettings& settings);
  std::optional<CacheSettings> settings() const;

  void list(CacheListingSink sink);
  void drop(std::string key);
  void clearDisk();

  // The decoder's thread. Errors: as ProofEvent.
  Result<ProofSource> find(const std::string& key, Decoder& decoder) const;
  // A proof ended like this. A file that turned out to be unusable is removed and listed. Where bytes differ
  // nothing that is kept is trusted any more: all caches are emptied, and the entry is listed until dropped.
  // REQUIRES: no request runs.
  void proved(const ProofSource& source, const Result<TextProof>& proof);

 private:
  struct Proved {
    std::string fingerprint;
    TextProof proof;
  };

  DeskCache current() const;
  void apply();
  CacheListing listing();
  void addMemory(const DeskCache& cache, CacheListing& listing) const;
  void addDisk(const DeskCache& cache, CacheListing& listing);
  std::vector<TextRowPtr> rowsInFolder();
  void dropNow(const std::string& key);

  EventThread& events_;
  const TextFolderOptions folder_;
  mutable std::mutex mutex_;  // guards all to the next line
  DeskCache cache_;
  std::optional<CacheSettings> settings_;
  std::map<std::string, Proved> proofs_;
  std::vector<CachedText> failed_;  // whose bytes differed; gone

  std::string folderTrouble_, removeTrouble_;  // the desk's thread
  EventThread thread_;
};

}  // namespace tandem::service
