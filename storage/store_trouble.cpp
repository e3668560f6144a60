// Store when its file cannot be used: into memory, around damage, and back to disk.
#include <unistd.h>

#include <filesystem>

#include "storage/disk.h"
#include "storage/rescue.h"
#include "storage/store.h"

namespace tandem::storage {

using Clock = std::chrono::steady_clock;

namespace {

// In the place of a SQLite code: the file at the path is no longer the one that was opened.
constexpr int kFileGone = -1;
// With less room than this SQLite may report an I/O error where the cause is a full disk.
constexpr std::uintmax_t kFullBelow = 64 * 1024;
constexpr std::chrono::milliseconds kRetryPatience{200};
constexpr std::chrono::milliseconds kTellLockAfter{2'000};

// Faults that lie in the disk or the file and not in the job.
bool isStorageFault(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return true;
    default:
      return false;
  }
}

std::string memorySentence(int code) {
  const std::string rest =
      " New messages are kept in memory: they are saved as soon as that works again, and lost if the program "
      "ends "
      "before.";
  if (code == kFileGone)
    return "The file with the conversations was moved or deleted while it was in use." + rest;
  switch (code & 0xff) {
    case SQLITE_FULL:
      return "The disk is full; free some space." + rest;
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return "The file with the conversations is read-only." + rest;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "Another program keeps the file with the conversations locked." + rest;
    case SQLITE_CANTOPEN:
      return "The file with the conversations cannot be opened; check that its folder can be written." + rest;
    default:
      return "The file with the conversations cannot be written; the disk may be full or failing." + rest;
  }
}

}  // namespace

Status Store::openDisk() {
  int code = SQLITE_OK;
  auto db = openForWriting(path_, options_.vfs, &Store::busy, this, code);
  if (db && soundWithin(**db, options_.checkBudget)) {
    disk_ = std::move(*db);
    diskIdentity_ = fileIdentity(path_);
    return {};
  }
  if (db || isDamage(code)) {
    disk_ = db ? std::move(*db) : nullptr;
    return recoverDamaged();
  }
  return code == SQLITE_OK ? db.status() : enterMemory(code);
}

Status Store::runJob(const Job& job) {
  if (!memory_ && fileIdentity(path_) != diskIdentity_) {
    const Status moved = enterMemory(kFileGone);
    if (!moved) return moved;
    returnToDisk();
  }
  for (int tries = 1;; ++tries) {
    Status status;
    int code = SQLITE_OK;
    if (memory_) {
      const std::lock_guard lock(memoryMutex_);
      return transact(*memory_, job);
    }
    status = transact(*disk_, job);
    code = disk_->failure();
    if (lockTold_ && (status || (code & 0xff) != SQLITE_BUSY)) {
      lockTold_ = false;
      setTrouble(note_);
    }
    if (status || tries == 3) return status;
    Status way;
    if (isDamage(code) || (isIndexDamage(code) && !indexRebuilt_)) {
      way = handleDamage(code);
    } else if (isStorageFault(code)) {
      way = enterMemory(code);
    } else {
      return status;
    }
    if (!way) return way;
  }
}

Status Store::handleDamage(int code) {
  // Damage that only the index speaks of is mended from the text beside it.
  if (disk_ && isIndexDamage(code) && !indexRebuilt_) {
    indexRebuilt_ = true;
    const Status rebuilt = transact(
        *disk_, [this](Writer&) { return disk_->exec("INSERT INTO search (search) VALUES ('rebuild')"); });
    if (rebuilt) return rebuilt;
  }
  return memory_ ? Status() : recoverDamaged();
}

Status Store::enterMemory(int code) {
  std::error_code ignored;
  const bool exists = std::filesystem::exists(path_, ignored);
  if (code == SQLITE_CANTOPEN && exists && access(path_.c_str(), W_OK) != 0) code = SQLITE_READONLY;
  const auto space = std::filesystem::space(std::filesystem::path(path_).parent_path(), ignored);
  if ((code & 0xff) == SQLITE_IOERR && !ignored && space.available < kFullBelow) code = SQLITE_FULL;
  auto copy = disk_ ? copyToMemory(*disk_) : loadToMemory(path_, options_.vfs);
  if (!copy && copy.error().code == ErrorCode::kCorruptFile) return recoverDamaged();
  std::string sentence = memorySentence(code);
  if (!copy) {
    if (exists) sentence += " The earlier conversations cannot be shown until then.";
    copy = emptyMemory();
  }
  if (!copy) return copy.status();
  const Status status = trackChanges(**copy, code == kFileGone);
  if (!status) return status;
  adoptMemory(std::move(*copy));
  setTrouble(std::move(sentence));
  return {};
}

Status Store::recoverDamaged() {
  if (disk_) sqlite3_db_config(disk_->handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  disk_.reset();
  auto memory = salvageToMemory(path_, options_.vfs);
  if (!memory) return memory.status();
  const Status status = trackChanges(**memory, true);
  if (!status) return status;
  const Result<std::string> kept = setAside(path_);
  adoptMemory(std::move(*memory));
  if (kept) {
    note_ =
        "The file with the conversations was damaged. What could be read was carried over to a new file; the "
        "damaged "
        "one is kept as " +
        std::filesystem::path(*kept).filename().string() + ".";
    setTrouble(note_);
    returnToDisk();
  } else {
    setTrouble(
        "The file with the conversations is damaged and cannot be replaced. What can be read is shown; new "
        "messages "
        "are kept in memory and lost when the program ends.");
  }
  return {};
}

void Store::adoptMemory(std::unique_ptr<Database> memory) {
  // Closing must not touch the log: there may be no room, or it may by now belong to another file.
  if (disk_) sqlite3_db_config(disk_->handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  const std::lock_guard lock(modeMutex_);
  disk_.reset();
  memory_ = std::move(memory);
  inMemory_ = true;
  nextRetry_ = Clock::now() + options_.memoryRetry;
}

bool Store::returnToDisk() {
  nextRetry_ = Clock::now() + options_.memoryRetry;
  patience_ = kRetryPatience;
  int code = SQLITE_OK;
  auto db = openForWriting(path_, options_.vfs, &Store::busy, this, code);
  bool merged = false;
  if (db && soundWithin(**db, options_.checkBudget)) {
    const std::lock_guard lock(memoryMutex_);
    merged = mergeToDisk(*memory_, **db).ok();
  }
  patience_ = options_.lockPatience;
  if (!merged) return false;
  {
    const std::lock_guard lock(modeMutex_);
    disk_ = std::move(*db);
    memory_.reset();
    inMemory_ = false;
    ++diskVersion_;
  }
  diskIdentity_ = fileIdentity(path_);
  setTrouble(note_);
  return true;
}

int Store::busy(void* self, int count) {
  Store& store = *static_cast<Store*>(self);
  const auto now = Clock::now();
  if (store.closing_) {
    if (now > store.closeDeadline_.load()) return 0;
  } else {
    if (count == 0) store.lockedSince_ = now;
    const auto waited = now - store.lockedSince_;
    if (waited > store.patience_) return 0;
    if (waited > kTellLockAfter && !store.lockTold_) {
      store.lockTold_ = true;
      store.setTrouble("Another program keeps the file with the conversations locked; saving waits for it.");
    }
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(count < 20 ? 2 : 20));
  return 1;
}

std::string Store::trouble() const {
  const std::lock_guard lock(troubleMutex_);
  return trouble_;
}

void Store::onTrouble(std::function<void(std::string)> handler) {
  const std::lock_guard lock(troubleMutex_);
  onTrouble_ = std::move(handler);
}

void Store::setTrouble(std::string sentence) {
  const std::lock_guard lock(troubleMutex_);
  if (sentence == trouble_) return;
  trouble_ = std::move(sentence);
  if (onTrouble_) onTrouble_(trouble_);
}

}  // namespace tandem::storage
