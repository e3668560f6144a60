#include "storage/migrations.h"

#include <array>
#include <string>

#include "storage/migration_texts.h"
#include "storage/search_text.h"

namespace tandem::storage {

namespace {

constexpr std::array<std::string_view, 5> kSteps = {kMigration001, kMigration002, kMigration003,
                                                    kMigration004, kMigration005};

void searchTextFunction(sqlite3_context* context, int, sqlite3_value** values) {
  const void* data = sqlite3_value_blob(values[0]);
  const auto size = static_cast<std::size_t>(sqlite3_value_bytes(values[0]));
  const std::string text = searchText({static_cast<const char*>(data ? data : ""), size});
  sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

Status runStep(Database& db, std::size_t version) {
  Status status = db.exec("BEGIN IMMEDIATE");
  if (!status) return status;
  // Another process may have taken this step while we waited for the lock.
  const Result<std::int64_t> now = db.integer("PRAGMA user_version");
  if (!now) {
    status = now.status();
  } else if (*now < static_cast<std::int64_t>(version)) {
    status = db.exec(std::string(kSteps[version - 1]).c_str());
    if (status) status = db.exec(("PRAGMA user_version = " + std::to_string(version)).c_str());
  }
  if (status) status = db.exec("COMMIT");
  if (!status) sqlite3_exec(db.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  return status;
}

}  // namespace

std::span<const std::string_view> migrationSteps() {
  return kSteps;
}

Status registerFunctions(Database& db) {
  const int code = sqlite3_create_function_v2(db.handle(), "search_text", 1,
                                              SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nullptr,
                                              searchTextFunction, nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Status() : Status(sqliteError(code));
}

Status migrate(Database& db) {
  const Result<std::int64_t> version = db.integer("PRAGMA user_version");
  if (!version) return version.error();
  const auto newest = static_cast<std::int64_t>(kSteps.size());
  if (*version > newest) {
    return Error{
        ErrorCode::kUnsupported,
        "The conversations were written by a newer version of Tandem; update the program to open them.",
        "user_version", std::nullopt};
  }
  for (std::int64_t step = *version + 1; step <= newest; ++step) {
    const Status status = runStep(db, static_cast<std::size_t>(step));
    if (!status) return status;
  }
  return {};
}

}  // namespace tandem::storage
