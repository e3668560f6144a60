// The file with the conversations: one writer thread, one reader thread, and what to do when the disk fails.
//
// Writes are jobs on a bounded queue; each runs in one transaction on the writer thread, and its `done` is
// called there after the commit has reached the disk (WAL, synchronous=FULL). Queries and searches run one
// after the other on the reader thread, on a connection of their own, and see what was committed before they
// began. Any thread may call; only the calls that say so wait.
//
// When the file cannot be written (disk full, read-only, removed, locked for long, damaged) the store goes on
// in memory, says so in trouble(), and brings everything to disk as soon as that works again; a job that met
// the fault is run again there. So a job may run more than once, and must give the same when it does. What
// was committed before is never lost. docs/storage.md tells the schema and the guarantees.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "storage/owner.h"
#include "storage/reader.h"
#include "storage/writer.h"

namespace tandem::storage {

struct StoreOptions {
  std::string vfs;                                 // SQLite VFS for the file; empty: the system's
  std::chrono::milliseconds lockPatience{30'000};  // how long a write waits for another program's lock
  std::chrono::milliseconds openPatience{2'000};   // the same while opening
  std::chrono::milliseconds memoryRetry{5'000};    // between two tries to get from memory back to disk
  std::chrono::milliseconds checkBudget{300};      // time for the check of the file at start
  std::size_t queueLimit = 256;                    // waiting jobs; beyond it post() waits
};

class Store {
 public:
  using Job = std::function<Status(Writer&)>;
  using Query = std::function<Status(Reader&)>;
  using Done = std::function<void(Status)>;
  using Hits = Result<std::vector<SearchHit>>;

  // Opens the file, making it and its folder if need be. Fails only where going on would do harm or cannot
  // work: a file of a newer program, no memory. Everything else opens, with a sentence in trouble().
  static Result<std::unique_ptr<Store>> open(const std::string& path, StoreOptions options = {});
  // Runs what is queued, then closes; waits at most half a second for another program's lock.
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // Queues a write. Waits only while the queue is full, never on the writer thread itself.
  void post(Job job, Done done = {});
  Status write(Job job);  // post, and wait for the commit; not from a callback of the store

  // Queues a read; `done` is called on the reader thread.
  void query(Query query, Done done = {});
  Status read(Query query);  // query, and wait; not from a callback of the store

  // A search on the reader thread. A newer one takes the place of one that waits and breaks off one that
  // runs; a search that was replaced ends with kCancelled.
  void search(std::string query, int limit, std::function<void(Hits)> done);

  // One sentence for a banner while something is wrong with the file, or empty.
  std::string trouble() const;
  // Called with trouble() whenever it changes, on the writer thread. Set it before the first job.
  void onTrouble(std::function<void(std::string)> handler);
  bool inMemory() const { return inMemory_; }
  const std::string& path() const { return path_; }

 private:
  struct Task {
    Job job;
    Done done;
    int damage = 0;  // instead of a job: damage of this code, met by the reader
  };
  struct Read {
    Query query;
    Done done;
    bool isSearch = false;
  };

  Store(std::string path, StoreOptions options);
  Status start();

  void enqueue(Task task);

  // The writer thread.
  void writerLoop();
  Status runJob(const Job& job);
  Status transact(Database& db, const Job& job);
  void tidy();
  static int busy(void* store, int count);  // SQLite's busy handler

  // Ways out of trouble; writer thread, or start().
  Status openDisk();
  Status handleDamage(int code);
  Status enterMemory(int code);
  Status recoverDamaged();
  void adoptMemory(std::unique_ptr<Database> memory);
  bool returnToDisk();
  void setTrouble(std::string sentence);

  // The reader thread.
  void readerLoop();
  Status runQuery(const Read& read);
  Status readOnce(const Read& read, int& code);
  void setSearching(bool searching);

  const std::string path_;
  const StoreOptions options_;
  const Owner owner_;

  std::mutex writeMutex_;  // guards queue_, writerId_, writerGone_; closing_ is set under it
  std::condition_variable writeWake_, writeSpace_;
  std::deque<Task> queue_;
  std::thread::id writerId_;
  bool writerGone_ = false;

  std::mutex readMutex_;  // guards reads_, runningSearch_
  std::condition_variable readWake_;
  std::deque<Read> reads_;
  bool runningSearch_ = false;

  mutable std::mutex troubleMutex_;  // guards trouble_, onTrouble_
  std::string trouble_;
  std::function<void(std::string)> onTrouble_;

  std::atomic<bool> closing_ = false;
  std::atomic<bool> inMemory_ = false;

  // The writer thread's connection.
  std::unique_ptr<Database> disk_;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> diskIdentity_;
  // The store in memory, while it stands in for the disk: used by both threads, under memoryMutex_. The
  // writer thread exchanges the pointer, under modeMutex_.
  std::shared_ptr<Database> memory_;
  std::mutex memoryMutex_;
  std::mutex modeMutex_;  // guards memory_ as a pointer, and diskVersion_
  int diskVersion_ = 0;   // rises when the disk file was opened anew: the reader opens it anew too
  std::unique_ptr<Database> readerDisk_;  // the reader thread's
  int readerVersion_ = -1;

  // The writer thread's own.
  std::chrono::milliseconds patience_;
  std::chrono::steady_clock::time_point lockedSince_;
  std::chrono::steady_clock::time_point nextRetry_;
  bool lockTold_ = false;  // trouble() speaks of the lock
  bool indexRebuilt_ = false;
  std::string note_;  // what trouble() goes on to say when all works again: that a damaged file was replaced
  int tidySteps_ = -1;  // steps of rewriting the index since the last purge; -1: nothing to do

  std::atomic<std::chrono::steady_clock::time_point> closeDeadline_;

  std::thread writer_, reader_;
};

}  // namespace tandem::storage
