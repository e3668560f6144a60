// A thin C++ face of the SQLite C API for the files of this folder: a connection that closes itself, a
// statement that resets itself, and SQLite's codes turned into sentences. A Database and its statements
// belong to one thread at a time.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engine/base/status.h"

namespace tandem::storage {

// The Error for a SQLite result code: the usual causes (disk full, locked, read-only, damaged, …) each have
// their sentence. `field` is the code's name, "SQLITE_FULL".
Error sqliteError(int code);

// True when the code says that the file's contents contradict themselves.
bool isDamage(int code);
// True when the code speaks of the full-text index only: its own code for damage, or a row it already has.
bool isIndexDamage(int code);

class Database;

// A prepared statement in use. Errors stick: after one, row() is false and status() tells it.
class Statement {
 public:
  Statement(Database& db, sqlite3_stmt* stmt, int code) : db_(db), stmt_(stmt), code_(code) {}
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Parameters, in the order of the question marks. Text and blobs are copied.
  Statement& bind(std::int64_t value);
  Statement& bind(double value);
  Statement& bindText(std::string_view text);
  Statement& bindBlob(std::string_view bytes);
  Statement& bindNull();
  Statement& bindValue(sqlite3_value* value);

  bool row();    // steps; true while there is a row
  Status run();  // steps to the end
  Status status() const;

  // The columns of the row, from 0.
  std::int64_t integer(int column) const { return sqlite3_column_int64(stmt_, column); }
  double real(int column) const { return sqlite3_column_double(stmt_, column); }
  std::string bytes(int column) const;  // text or blob, exactly
  bool isNull(int column) const { return sqlite3_column_type(stmt_, column) == SQLITE_NULL; }
  sqlite3_value* value(int column) const { return sqlite3_column_value(stmt_, column); }
  int columns() const { return sqlite3_column_count(stmt_); }

 private:
  void note(int code);

  Database& db_;
  sqlite3_stmt* stmt_;
  int code_;
  int bound_ = 0;
};

class Database {
 public:
  // Opens `uri` with SQLite's open flags. vfs: empty for the system's own.
  static Result<std::unique_ptr<Database>> open(const std::string& uri, int flags, const std::string& vfs);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  Status exec(const char* sql);
  // The statement is kept and found again by its text.
  Statement prepare(std::string_view sql);
  // Runs a query that gives one integer; 0 for no row.
  Result<std::int64_t> integer(std::string_view sql);

  std::int64_t lastInsertId() const { return sqlite3_last_insert_rowid(handle_); }
  int changes() const { return sqlite3_changes(handle_); }
  sqlite3* handle() { return handle_; }

  // The code of the newest call that failed since clearFailure(); SQLITE_OK: none.
  int failure() const { return failure_; }
  void clearFailure() { failure_ = SQLITE_OK; }

 private:
  friend class Statement;
  explicit Database(sqlite3* handle) : handle_(handle) {}

  sqlite3* handle_;
  std::unordered_map<std::string, sqlite3_stmt*> statements_;
  int failure_ = SQLITE_OK;
};

}  // namespace tandem::storage
