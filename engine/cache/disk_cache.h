// The tier below PrefixCache: beginnings of texts on disk, where they outlive the program (docs/caches.md,
// "On disk"). What a decoder's requests leave is written by a thread of its own, while no request runs; a
// text whose beginning is longer on disk than in memory gets it from there, with every byte checked.
//
// Nothing here is an error to a request: a file that cannot be used is passed over, removed and listed with
// its reason; a disk that cannot be written is told once, and tried again. Threads: any may call; the
// decoder's alone restores.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/cache/text_folder.h"

namespace tandem {

struct DiskCacheOptions {
  bool enabled = true;  // false: nothing is read or written until setEnabled()
  TextFolderOptions folder = {};
  // Called with a sentence when nothing can be kept, and with an empty one when that is over; on the thread
  // that writes.
  std::function<void(std::string)> onTrouble = {};
  int leastGain = 16;                         // tokens that a restore must save, and a text must have
  std::chrono::milliseconds settle{1000};     // between the end of a request and the writing of its text
  std::chrono::milliseconds longest{30'000};  // that a text waits where one request follows another
  std::chrono::milliseconds closeTime{3000};  // for writing what is left when it closes
  std::chrono::milliseconds retry{30'000};    // between two tries when nothing can be written
  std::uint64_t waiting = std::uint64_t{512} << 20;  // bytes that may wait to be written
};

class DiskCache {
 public:
  // For decoders that make such sequences of this model; opens the folder's index at once.
  DiskCache(DiskCacheOptions options, const std::string& fingerprint, Sequence empty, int vocabulary);
  ~DiskCache();
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;

  // Puts the text's longest beginning on disk into the cache, when that is longer than what is known of it
  // there. False: nothing was put in.
  bool restore(PrefixCache& cache, std::span<const TokenId> text, const CacheHit& known,
               std::int64_t conversation);
  // Has a text written, as PrefixCache::insert takes it. room: bytes that may wait with it, within those of
  // the options; the oldest texts go, never this one.
  void keep(std::span<const TokenId> text, const Sequence& sequence, std::span<const CacheMark> marks,
            std::int64_t conversation, std::uint64_t room);
  // Around each request: while one runs little is written.
  void enter();
  void leave();

  // Has all files of a conversation removed, and writes nothing of what was put in for it so far. False: the
  // cache is closed, and it is not done.
  bool dropConversation(std::int64_t conversation);
  // Has a file removed; false: it is not listed, or the cache is closed. rows() leaves it out at once.
  bool drop(const std::string& file);
  // Has all files removed, of all models, and writes nothing of what was put in so far. False: as above.
  bool clear();
  // The file of this row was found to be of no use: it is removed and listed with the reason. One that is not
  // there (kNotFound) was another program's to remove: it is no longer looked for.
  void refuse(const TextRow& row, const Error& why);
  // Of all files together; what no longer fits goes.
  void setBudget(std::uint64_t bytes);
  std::uint64_t budget() const;
  // While it is off nothing is read or written; what is on disk stays.
  void setEnabled(bool on);
  bool enabled() const;
  // Waits until all is written, or cannot be.
  void flush();
  // Writes what is left, as far as the time allows, and ends the thread. After that nothing is done.
  void close();

  // What is listed and not to be removed; what was used longest ago first.
  std::vector<TextRowPtr> rows() const;
  std::string pathOf(const TextRow& row) const { return folder_.pathOf(row); }
  const TextFileKey& key() const { return key_; }
  std::vector<UnusableText> unusable() const;  // the latest hundred that were met
  std::string trouble() const;                 // a sentence while nothing can be kept; else empty

 private:
  struct Read;

  void run();
  void sweep(std::unique_lock<std::mutex>& lock);
  bool hasSmallWork() const;  // REQUIRES: mutex_ is held
  Status write(const KeptText& text);
  bool pause();
  bool waits();
  void work(std::unique_lock<std::mutex>& lock);
  void told(const Status& status);
  void list(UnusableText file);  // REQUIRES: mutex_ is held
  Status load(const TextPlan& plan, std::span<const TokenId> text, const CacheHit& known, Sequence& sequence,
              TextRowPtr& culprit) const;
  Status readPages(std::span<const Read> reads, TextRowPtr& culprit) const;
  Result<CacheMark> readMark(const TextRow& row, std::span<const TokenId> text) const;
  Result<TextFileReader> openFor(const TextRow& row, std::span<const TokenId> text) const;

  const DiskCacheOptions options_;
  const Sequence empty_;
  const TextFileKey key_;
  const bool stateful_;
  TextFolder folder_;  // the thread's, but for its catalogue

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable wake_, idle_;
  std::deque<KeptText> texts_;
  std::vector<TextUse> uses_;
  std::set<std::int64_t> unwanted_;  // ids of rows whose files are to be removed, until they are
  std::uint64_t budget_;
  std::vector<std::int64_t> conversations_;  // to be dropped
  std::vector<UnusableText> unusable_;
  std::string trouble_;
  std::chrono::steady_clock::time_point keptAt_, waitingSince_, nextTry_, deadline_;
  int users_ = 0;
  bool working_ = true, closing_ = false, closed_ = false, flushing_ = false;
  bool enabled_, swept_ = false, clearing_ = false, newBudget_ = false;

  std::thread thread_;
};

}  // namespace tandem
