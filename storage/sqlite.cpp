#include "storage/sqlite.h"

#include <utility>

namespace tandem::storage {

namespace {

const char* codeName(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return "SQLITE_FULL";
    case SQLITE_BUSY:
      return "SQLITE_BUSY";
    case SQLITE_LOCKED:
      return "SQLITE_LOCKED";
    case SQLITE_READONLY:
      return "SQLITE_READONLY";
    case SQLITE_CORRUPT:
      return "SQLITE_CORRUPT";
    case SQLITE_NOTADB:
      return "SQLITE_NOTADB";
    case SQLITE_IOERR:
      return "SQLITE_IOERR";
    case SQLITE_CANTOPEN:
      return "SQLITE_CANTOPEN";
    case SQLITE_INTERRUPT:
      return "SQLITE_INTERRUPT";
    case SQLITE_TOOBIG:
      return "SQLITE_TOOBIG";
    case SQLITE_CONSTRAINT:
      return "SQLITE_CONSTRAINT";
    default:
      return "SQLITE_ERROR";
  }
}

}  // namespace

Error sqliteError(int code) {
  const auto make = [code](ErrorCode kind, const char* sentence) {
    return Error{kind, sentence, codeName(code), std::nullopt};
  };
  switch (code & 0xff) {
    case SQLITE_FULL:
      return make(ErrorCode::kIo,
                  "The disk is full, so the conversation could not be saved; free some space.");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return make(ErrorCode::kBusy,
                  "Another program keeps the file with the conversations locked; close it and try again.");
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return make(ErrorCode::kIo, "The file with the conversations is read-only, so nothing could be saved.");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return make(ErrorCode::kCorruptFile, "The file with the conversations is damaged.");
    case SQLITE_IOERR:
      return make(
          ErrorCode::kIo,
          "The file with the conversations could not be read or written; the disk may be failing or full.");
    case SQLITE_CANTOPEN:
      return make(
          ErrorCode::kIo,
          "The file with the conversations cannot be opened; check that its folder exists and is yours.");
    case SQLITE_INTERRUPT:
      return make(ErrorCode::kCancelled, "The search was replaced by a newer one.");
    case SQLITE_TOOBIG:
      return make(ErrorCode::kBudgetExceeded, "The text is too long to be kept in a conversation.");
    case SQLITE_NOMEM:
      return make(ErrorCode::kOutOfMemory, "There is not enough memory to read the conversations.");
    default:
      return Error{ErrorCode::kInternal,
                   std::string("The conversations could not be read or saved: ") + sqlite3_errstr(code) + ".",
                   codeName(code), std::nullopt};
  }
}

bool isIndexDamage(int code) {
  return code == SQLITE_CORRUPT_VTAB || code == SQLITE_CONSTRAINT_PRIMARYKEY ||
         code == SQLITE_CONSTRAINT_ROWID;
}

bool isDamage(int code) {
  return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB;
}

Statement::~Statement() {
  if (!stmt_) return;
  sqlite3_reset(stmt_);
  sqlite3_clear_bindings(stmt_);
}

void Statement::note(int code) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE || code_ != SQLITE_OK) return;
  code_ = sqlite3_extended_errcode(db_.handle_);
  if (code_ == SQLITE_OK || (code_ & 0xff) == SQLITE_ROW || (code_ & 0xff) == SQLITE_DONE) code_ = code;
  db_.failure_ = code_;
}

Statement& Statement::bind(std::int64_t value) {
  if (stmt_) note(sqlite3_bind_int64(stmt_, ++bound_, value));
  return *this;
}

Statement& Statement::bind(double value) {
  if (stmt_) note(sqlite3_bind_double(stmt_, ++bound_, value));
  return *this;
}

Statement& Statement::bindText(std::string_view text) {
  if (stmt_)
    note(sqlite3_bind_text64(stmt_, ++bound_, text.data() ? text.data() : "", text.size(), SQLITE_TRANSIENT,
                             SQLITE_UTF8));
  return *this;
}

Statement& Statement::bindBlob(std::string_view bytes) {
  if (stmt_)
    note(sqlite3_bind_blob64(stmt_, ++bound_, bytes.data() ? bytes.data() : "", bytes.size(),
                             SQLITE_TRANSIENT));
  return *this;
}

Statement& Statement::bindNull() {
  if (stmt_) note(sqlite3_bind_null(stmt_, ++bound_));
  return *this;
}

Statement& Statement::bindValue(sqlite3_value* value) {
  if (stmt_) note(sqlite3_bind_value(stmt_, ++bound_, value));
  return *this;
}

bool Statement::row() {
  if (code_ != SQLITE_OK) return false;
  const int code = sqlite3_step(stmt_);
  if (code == SQLITE_ROW) return true;
  note(code);
  return false;
}

Status Statement::run() {
  while (row()) {
  }
  return status();
}

Status Statement::status() const {
  return code_ == SQLITE_OK ? Status() : Status(sqliteError(code_));
}

std::string Statement::bytes(int column) const {
  const void* data = sqlite3_column_blob(stmt_, column);
  const int size = sqlite3_column_bytes(stmt_, column);
  return data ? std::string(static_cast<const char*>(data), static_cast<std::size_t>(size)) : std::string();
}

Result<std::unique_ptr<Database>> Database::open(const std::string& uri, int flags, const std::string& vfs) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(uri.c_str(), &handle, flags, vfs.empty() ? nullptr : vfs.c_str());
  if (code != SQLITE_OK) {
    sqlite3_close(handle);
    return sqliteError(code);
  }
  sqlite3_extended_result_codes(handle, 1);
  return std::unique_ptr<Database>(new Database(handle));
}

Database::~Database() {
  for (auto& [sql, stmt] : statements_)
    sqlite3_finalize(stmt);
  sqlite3_close(handle_);
}

Status Database::exec(const char* sql) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) return {};
  failure_ = sqlite3_extended_errcode(handle_);
  return sqliteError(failure_);
}

Statement Database::prepare(std::string_view sql) {
  const auto found = statements_.find(std::string(sql));
  if (found != statements_.end()) return Statement(*this, found->second, SQLITE_OK);
  sqlite3_stmt* stmt = nullptr;
  const int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &stmt, nullptr);
  if (code != SQLITE_OK) {
    failure_ = code;
    return Statement(*this, nullptr, code);
  }
  statements_.emplace(std::string(sql), stmt);
  return Statement(*this, stmt, SQLITE_OK);
}

Result<std::int64_t> Database::integer(std::string_view sql) {
  Statement s = prepare(sql);
  const std::int64_t value = s.row() ? s.integer(0) : 0;
  if (!s.status()) return s.status().error();
  return value;
}

}  // namespace tandem::storage
