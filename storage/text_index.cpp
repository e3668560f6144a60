#include "storage/text_index.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "storage/blobs.h"
#include "storage/disk.h"

namespace tandem::storage {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr int kPatienceMs = 2000;

constexpr const char* kSchema =
    "CREATE TABLE IF NOT EXISTS files (id INTEGER PRIMARY KEY AUTOINCREMENT, file TEXT NOT NULL UNIQUE, "
    "model TEXT NOT NULL, kind INTEGER NOT NULL, tier INTEGER NOT NULL, logits INTEGER NOT NULL, "
    "start INTEGER NOT NULL, finish INTEGER NOT NULL, parent BLOB NOT NULL, tokens BLOB NOT NULL, "
    "bytes INTEGER NOT NULL, conversation INTEGER NOT NULL, used_us INTEGER NOT NULL, hits INTEGER NOT NULL);"
    "PRAGMA user_version = 1";

// What the engine understands of SQLite's errors: the errno of its likely cause.
Error faultOf(Error error) {
  if (error.field == "SQLITE_FULL") {
    error.offset = ENOSPC;
  } else if (error.field == "SQLITE_READONLY" || error.field == "SQLITE_PERM" ||
             error.field == "SQLITE_CANTOPEN") {
    error.offset = EACCES;
  } else {
    error.offset = EIO;
  }
  return {ErrorCode::kIo, "the index cannot be read or written (" + error.field + ")", error.field,
          error.offset};
}
Status faultOf(const Status& status) {
  return status ? status : Status(faultOf(status.error()));
}

// Gives an open, sound index; nullopt: the file is none, and may be replaced.
Result<std::optional<std::unique_ptr<Database>>> tryOpen(const std::string& path, const std::string& vfs) {
  using Found = std::optional<std::unique_ptr<Database>>;
  const int created = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (created >= 0) ::close(created);
  auto db = Database::open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs);
  if (!db) return db.error();
  sqlite3_busy_timeout((*db)->handle(), kPatienceMs);
  Status status = useWal(**db);
  if (status) status = (*db)->exec("PRAGMA synchronous = FULL; PRAGMA secure_delete = ON");
  Result<std::int64_t> version =
      status ? (*db)->integer("PRAGMA user_version") : Result<std::int64_t>(status.error());
  if (version && *version == 0) {
    status = (*db)->exec(kSchema);
    version = status ? Result<std::int64_t>(kVersion) : Result<std::int64_t>(status.error());
  }
  const bool sound = version && *version == kVersion && soundWithin(**db, std::chrono::milliseconds(200));
  if (sound) {
    if (sqlite3_db_readonly((*db)->handle(), "main") == 1) return sqliteError(SQLITE_READONLY);
    return Found(std::move(*db));
  }
  if (!version && !isDamage((*db)->failure())) return version.error();
  sqlite3_db_config((*db)->handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  return Found();
}

}  // namespace

CacheIndex::CacheIndex(std::string path, std::unique_ptr<Database> db)
    : path_(std::move(path)), db_(std::move(db)), identity_(fileIdentity(path_)) {}

Result<std::unique_ptr<TextIndex>> CacheIndex::open(const std::string& folder, const std::string& vfs) {
  const std::string path = folder + "/index.db";
  for (const bool again : {false, true}) {
    auto found = tryOpen(path, vfs);
    if (!found) return faultOf(found.error());
    if (*found) return std::unique_ptr<TextIndex>(new CacheIndex(path, std::move(**found)));
    if (again) break;
    for (const char* suffix : {"-wal", "-shm", ""})
      std::remove((path + suffix).c_str());
  }
  return Error{ErrorCode::kIo, "the index is damaged and cannot be replaced", "index.db", EACCES};
}

Result<std::vector<TextRow>> CacheIndex::rows() {
  std::vector<TextRow> rows;
  Statement s = db_->prepare(
      "SELECT id, file, model, kind, tier, logits, start, finish, parent, tokens, bytes, conversation, "
      "used_us, hits FROM files");
  while (s.row()) {
    TextRow row;
    row.id = s.integer(0);
    row.file = s.bytes(1);
    row.model = s.bytes(2);
    row.kind = s.integer(3) == 1 ? TextFileKind::kMark : TextFileKind::kPages;
    row.tier = static_cast<std::uint32_t>(s.integer(4));
    row.logits = s.integer(5) != 0;
    const std::int64_t start = s.integer(6), end = s.integer(7);
    const std::string parent = s.bytes(8);
    appendInts(s.bytes(9), row.tokens);
    row.bytes = static_cast<std::uint64_t>(s.integer(10));
    row.conversation = s.integer(11);
    row.usedUs = s.integer(12);
    row.hits = s.integer(13);
    // What contradicts itself is left out, and its file with it.
    if (start < 0 || end > kMostTokens || end - start != static_cast<std::int64_t>(row.tokens.size()) ||
        parent.size() != sizeof row.parent || row.file.find('/') != std::string::npos)
      continue;
    row.start = static_cast<int>(start);
    row.end = static_cast<int>(end);
    std::memcpy(row.parent.data(), parent.data(), sizeof row.parent);
    rows.push_back(std::move(row));
  }
  if (!s.status()) return faultOf(s.status().error());
  return rows;
}

Result<std::int64_t> CacheIndex::add(const TextRow& row) {
  Statement s = db_->prepare(
      "INSERT INTO files (file, model, kind, tier, logits, start, finish, parent, tokens, bytes, "
      "conversation, used_us, hits) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  s.bindText(row.file).bindText(row.model).bind(static_cast<std::int64_t>(row.kind));
  s.bind(std::int64_t{row.tier}).bind(std::int64_t{row.logits});
  s.bind(std::int64_t{row.start}).bind(std::int64_t{row.end});
  s.bindBlob({reinterpret_cast<const char*>(row.parent.data()), sizeof row.parent});
  s.bindBlob(intsBlob(row.tokens)).bind(static_cast<std::int64_t>(row.bytes)).bind(row.conversation);
  s.bind(row.usedUs).bind(row.hits);
  if (const Status status = s.run(); !status) return faultOf(status.error());
  return db_->lastInsertId();
}

Status CacheIndex::remove(std::span<const std::int64_t> ids) {
  if (const Status status = db_->exec("BEGIN IMMEDIATE"); !status) return faultOf(status);
  for (const std::int64_t id : ids) {
    Statement s = db_->prepare("DELETE FROM files WHERE id = ?");
    if (const Status status = s.bind(id).run(); !status) {
      static_cast<void>(db_->exec("ROLLBACK"));
      return faultOf(status);
    }
  }
  return faultOf(db_->exec("COMMIT"));
}

Status CacheIndex::use(std::span<const TextUse> uses) {
  if (const Status status = db_->exec("BEGIN IMMEDIATE"); !status) return faultOf(status);
  for (const TextUse& use : uses) {
    Statement s = db_->prepare(
        "UPDATE files SET used_us = ?, hits = hits + ?, conversation = iif(?3 = 0, conversation, ?3) WHERE "
        "id = ?4");
    s.bind(use.usedUs).bind(std::int64_t{use.restored}).bind(use.conversation).bind(use.id);
    if (const Status status = s.run(); !status) {
      static_cast<void>(db_->exec("ROLLBACK"));
      return faultOf(status);
    }
  }
  return faultOf(db_->exec("COMMIT"));
}

bool CacheIndex::isCurrent() const {
  return identity_ && fileIdentity(path_) == identity_;
}

}  // namespace tandem::storage
