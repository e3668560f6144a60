#include "storage/disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "storage/migrations.h"

namespace tandem::storage {

namespace {

constexpr int kReaderPatienceMs = 2000;
constexpr std::chrono::milliseconds kWalPatience{2000};

}  // namespace

// Turning a new file to WAL needs the file alone, and SQLite does not always call the busy handler for it;
// another process that opens the same new file gets a moment.
Status useWal(Database& db) {
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    const Status status = db.exec("PRAGMA journal_mode = WAL");
    const bool busy = !status && (db.failure() & 0xff) == SQLITE_BUSY;
    if (!busy || std::chrono::steady_clock::now() - start > kWalPatience) return status;
    db.clearFailure();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Result<std::unique_ptr<Database>> openForWriting(const std::string& path, const std::string& vfs,
                                                 int (*busy)(void*, int), void* context, int& code) {
  code = SQLITE_OK;
  // A new file is its owner's alone; SQLite gives the log the same rights.
  const int created = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (created >= 0) ::close(created);
  auto db = Database::open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs);
  if (!db) {
    code = SQLITE_CANTOPEN;
    return db;
  }
  sqlite3_busy_handler((*db)->handle(), busy, context);
  Status status = registerFunctions(**db);
  if (status) status = useWal(**db);
  if (status) {
    status = (*db)->exec("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON");
  }
  if (status) status = migrate(**db);
  if (!status) {
    code = (*db)->failure();
    return status.error();
  }
  // SQLite opens a file it may not write without a word, read-only.
  if (sqlite3_db_readonly((*db)->handle(), "main") == 1) {
    code = SQLITE_READONLY;
    return sqliteError(code);
  }
  return db;
}

Result<std::unique_ptr<Database>> openForReading(const std::string& path, const std::string& vfs) {
  auto db = Database::open(path, SQLITE_OPEN_READWRITE, vfs);
  if (!db) return db;
  sqlite3_busy_timeout((*db)->handle(), kReaderPatienceMs);
  const Status status = (*db)->exec("PRAGMA query_only = ON");
  if (!status) return status.error();
  return db;
}

bool soundWithin(Database& db, std::chrono::milliseconds budget) {
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  std::thread watch([&] {
    std::unique_lock lock(mutex);
    if (!ended.wait_for(lock, budget, [&] { return done; })) sqlite3_interrupt(db.handle());
  });
  bool sound = true;
  {
    Statement s = db.prepare("PRAGMA quick_check(1)");
    if (s.row()) {
      sound = s.bytes(0) == "ok";
    } else {
      sound = !isDamage(db.failure());
    }
  }
  {
    const std::lock_guard lock(mutex);
    done = true;
    ended.notify_one();
  }
  watch.join();
  db.clearFailure();
  return sound;
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> fileIdentity(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  return std::pair<std::uint64_t, std::uint64_t>(info.st_dev, info.st_ino);
}

}  // namespace tandem::storage
