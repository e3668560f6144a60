// Store's threads: the queue of jobs with its writer, the queue of queries with its reader. What happens when
// the file cannot be used is in store_trouble.cpp.
#include "storage/store.h"

#include <filesystem>
#include <future>

#include "storage/disk.h"

namespace tandem::storage {

using Clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::milliseconds kClosePatience{500};

Error closed() {
  return Error{ErrorCode::kCancelled, "The program is closing.", {}, std::nullopt};
}

}  // namespace

Store::Store(std::string path, StoreOptions options)
    : path_(std::move(path)), options_(std::move(options)), patience_(options_.openPatience) {}

Result<std::unique_ptr<Store>> Store::open(const std::string& path, StoreOptions options) {
  std::error_code ignored;  // a folder that cannot be made shows when the file is opened
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  std::unique_ptr<Store> store(new Store(path, std::move(options)));
  const Status status = store->start();
  if (!status) return status.error();
  return store;
}

Status Store::start() {
  const Status status = openDisk();
  if (!status) return status;
  patience_ = options_.lockPatience;
  writer_ = std::thread([this] { writerLoop(); });
  reader_ = std::thread([this] { readerLoop(); });
  post([](Writer& writer) { return writer.sweep(); });
  return {};
}

Store::~Store() {
  {
    const std::lock_guard lock(writeMutex_);
    closeDeadline_ = Clock::now() + kClosePatience;
    closing_ = true;
    writeWake_.notify_all();
    writeSpace_.notify_all();
  }
  if (writer_.joinable()) writer_.join();
  {
    const std::lock_guard lock(readMutex_);
    readWake_.notify_all();
  }
  if (reader_.joinable()) reader_.join();
}

void Store::post(Job job, Done done) {
  enqueue({std::move(job), std::move(done)});
}

void Store::enqueue(Task task) {
  {
    std::unique_lock lock(writeMutex_);
    if (std::this_thread::get_id() != writerId_) {
      writeSpace_.wait(lock, [this] { return closing_ || queue_.size() < options_.queueLimit; });
    }
    if (!writerGone_) {
      queue_.push_back(std::move(task));
      writeWake_.notify_one();
      return;
    }
  }
  if (task.done) task.done(closed());
}

Status Store::write(Job job) {
  std::promise<Status> promise;
  post(std::move(job), [&promise](Status status) { promise.set_value(std::move(status)); });
  return promise.get_future().get();
}

void Store::query(Query query, Done done) {
  {
    const std::lock_guard lock(readMutex_);
    reads_.push_back({std::move(query), std::move(done), false});
  }
  readWake_.notify_one();
}

Status Store::read(Query query) {
  std::promise<Status> promise;
  this->query(std::move(query), [&promise](Status status) { promise.set_value(std::move(status)); });
  return promise.get_future().get();
}

void Store::search(std::string query, int limit, std::function<void(Hits)> done) {
  auto hits = std::make_shared<std::vector<SearchHit>>();
  Read read;
  read.isSearch = true;
  read.query = [hits, query = std::move(query), limit](Reader& reader) {
    Hits found = reader.search(query, limit);
    if (!found) return found.status();
    *hits = std::move(*found);
    return Status();
  };
  read.done = [hits, done = std::move(done)](Status status) {
    if (status) {
      done(std::move(*hits));
    } else {
      done(status.error());
    }
  };

  std::vector<Done> replaced;
  {
    const std::lock_guard lock(readMutex_);
    for (auto it = reads_.begin(); it != reads_.end();) {
      if (it->isSearch) {
        replaced.push_back(std::move(it->done));
        it = reads_.erase(it);
      } else {
        ++it;
      }
    }
    // readerDisk_ stays open while a search runs.
    if (runningSearch_ && readerDisk_) sqlite3_interrupt(readerDisk_->handle());
    reads_.push_back(std::move(read));
  }
  readWake_.notify_one();
  for (const Done& old : replaced)
    old(sqliteError(SQLITE_INTERRUPT));
}

void Store::writerLoop() {
  std::unique_lock lock(writeMutex_);
  writerId_ = std::this_thread::get_id();
  for (;;) {
    const auto ready = [this] { return closing_ || !queue_.empty(); };
    if (inMemory_) {
      writeWake_.wait_until(lock, nextRetry_, ready);
    } else if (tidySteps_ < 0) {
      writeWake_.wait(lock, ready);
    }
    if (queue_.empty()) {
      if (closing_) break;
      lock.unlock();
      if (inMemory_) {
        returnToDisk();
      } else {
        tidy();
      }
      lock.lock();
      continue;
    }
    Task task = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    writeSpace_.notify_one();
    const Status status = task.job ? runJob(task.job) : handleDamage(task.damage);
    if (task.done) task.done(status);
    lock.lock();
  }
  writerGone_ = true;
  lock.unlock();
  if (inMemory_) returnToDisk();
}

Status Store::transact(Database& db, const Job& job) {
  db.clearFailure();
  Status status = db.exec("BEGIN IMMEDIATE");
  if (!status) return status;
  Writer writer(db, owner_.name());
  status = job(writer);
  if (status) status = db.exec("COMMIT");
  if (!status) {
    // Some faults have rolled back already; then there is nothing to do.
    if (sqlite3_get_autocommit(db.handle()) == 0)
      sqlite3_exec(db.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  } else if (writer.purged()) {
    tidySteps_ = 0;
  }
  return status;
}

void Store::tidy() {
  const bool first = tidySteps_ == 0;
  bool more = false;
  const Status status = transact(*disk_, [&](Writer& writer) {
    const Result<bool> result = writer.mergeIndex(first);
    more = result && *result;
    return result.status();
  });
  tidySteps_ = status && more ? tidySteps_ + 1 : -1;
  // The deleted text leaves the log as well.
  if (tidySteps_ < 0)
    sqlite3_wal_checkpoint_v2(disk_->handle(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
}

void Store::readerLoop() {
  std::unique_lock lock(readMutex_);
  for (;;) {
    readWake_.wait(lock, [this] { return closing_ || !reads_.empty(); });
    if (reads_.empty()) return;
    Read read = std::move(reads_.front());
    reads_.pop_front();
    lock.unlock();
    const Status status = closing_ ? Status(closed()) : runQuery(read);
    if (read.done) read.done(status);
    lock.lock();
  }
}

Status Store::runQuery(const Read& read) {
  int code = SQLITE_OK;
  const Status status = readOnce(read, code);
  if (status || !isDamage(code)) return status;
  // The writer mends the file or replaces it; then the query is asked once more.
  std::promise<Status> promise;
  enqueue({{}, [&promise](Status mended) { promise.set_value(std::move(mended)); }, code});
  return promise.get_future().get() ? readOnce(read, code) : status;
}

void Store::setSearching(bool searching) {
  const std::lock_guard lock(readMutex_);
  runningSearch_ = searching;
}

Status Store::readOnce(const Read& read, int& code) {
  std::shared_ptr<Database> memory;
  int version = 0;
  {
    const std::lock_guard lock(modeMutex_);
    memory = memory_;
    version = diskVersion_;
  }
  std::unique_lock lock(memoryMutex_, std::defer_lock);
  if (memory) {
    lock.lock();
  } else if (version != readerVersion_) {
    auto opened = openForReading(path_, options_.vfs);
    if (!opened) return opened.error();
    const std::lock_guard readLock(readMutex_);
    readerDisk_ = std::move(*opened);
    readerVersion_ = version;
  }
  Database& db = memory ? *memory : *readerDisk_;
  db.clearFailure();
  Status status = db.exec("BEGIN");
  if (status) {
    Reader reader(db);
    // Only the search itself may be broken off: a ROLLBACK that is would leave the transaction open.
    setSearching(read.isSearch);
    status = read.query(reader);
    setSearching(false);
    sqlite3_exec(db.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
  code = db.failure();
  return status;
}

}  // namespace tandem::storage
